import { useCallback, useEffect, useState } from "react";

/** Text that is not sent yet, kept in this tab for each place it belongs to until it is. */
export function useKeptText(place: string): [text: string, setText: (text: string) => void] {
  const key = `retinue.draft.${place}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? "");
  const change = useCallback(
    (next: string) => {
      // At once: what was sent may have led to another page already.
      keepText(key, next);
      setText(next);
    },
    [key],
  );
  return [text, change];
}

/** Keeps a text for as long as the tab is open, so that leaving the screen loses nothing; an empty one is forgotten. */
export function keepText(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // A full store: the text is still on the page.
  }
}

/** Lets the browser ask before a page with changes is left. */
export function useUnsavedWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isChanged]);
}
