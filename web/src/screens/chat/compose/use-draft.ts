import { useCallback, useState } from "react";

/** Text that is not sent yet, kept in this tab for each session until it is. */
export function useDraft(place: string): [text: string, setText: (text: string) => void] {
  const key = `retinue.draft.${place}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const change = useCallback(
    (next: string) => {
      // At once: what was sent may have led to another page already.
      if (next) sessionStorage.setItem(key, next);
      else sessionStorage.removeItem(key);
      setText(next);
    },
    [key],
  );
  return [text, change];
}
