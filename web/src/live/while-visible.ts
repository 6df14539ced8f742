/** A page that nobody sees keeps its streams for this long, so that a glance at another tab costs nothing. */
const PATIENCE_MS = 4_000;

/**
 * Opens something once the page is seen, closes it when the page has been out of sight for a while, and opens it again when it is back.
 * Browsers have six connections for a server; tabs that nobody looks at must not use them up.
 */
export function whileVisible(open: () => () => void): () => void {
  let close: (() => void) | null = document.visibilityState === "visible" ? open() : null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") close ??= open();
    else
      timer = setTimeout(() => {
        close?.();
        close = null;
      }, PATIENCE_MS);
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    clearTimeout(timer);
    close?.();
  };
}
