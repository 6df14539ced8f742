const MOST_WAIT_MS = 5_000;

/** How long to wait before the next try to reach the server, after so many that failed. */
export function findRetryDelay(failures: number): number {
  return Math.min(500 * 2 ** failures, MOST_WAIT_MS);
}

/** What listens to the events of a stream, by their kind. */
export function listenTo<Told extends { kind: string }>(source: EventSource) {
  return <Kind extends Told["kind"]>(kind: Kind, take: (event: Extract<Told, { kind: Kind }>) => void) =>
    source.addEventListener(kind, (message) => take(JSON.parse(message.data)));
}

/** A hidden page keeps its streams for this long, so that a glance at another tab costs nothing. */
const PATIENCE_MS = 4_000;

/**
 * Opens something once the page is seen, closes it when the page has been out of sight for a while, and opens it again when it is back.
 * Browsers have six connections for a server; hidden tabs must not use them up.
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
