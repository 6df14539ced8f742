import { useSyncExternalStore } from "react";

const narrow = matchMedia("(width < 48rem)");

function listen(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** Whether the page is as narrow as a phone, where side panes lie over it and rows have two lines. */
export function useNarrow(): boolean {
  return useSyncExternalStore(listen, () => narrow.matches);
}
