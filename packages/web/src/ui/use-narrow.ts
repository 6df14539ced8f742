import { useCallback, useSyncExternalStore } from "react";

const PHONE = "(width < 48rem)";

/** Whether the page is as narrow as a phone, where side panes lie over it and rows have two lines; or fits `query`. */
export function useNarrow(query: string = PHONE): boolean {
  const listen = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(listen, () => matchMedia(query).matches);
}
