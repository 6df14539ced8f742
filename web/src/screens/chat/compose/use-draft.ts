import { useEffect, useState } from "react";

/** Text that is not sent yet, kept in this tab for each session until it is. */
export function useDraft(place: string): [text: string, setText: (text: string) => void] {
  const key = `retinue.draft.${place}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  useEffect(() => {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  }, [key, text]);
  return [text, setText];
}
