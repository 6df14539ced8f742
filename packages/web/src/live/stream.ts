const MOST_WAIT_MS = 5_000;

/** How long to wait before the next try to reach the server, after so many that failed. */
export function findRetryDelay(failures: number): number {
  return Math.min(500 * 2 ** failures, MOST_WAIT_MS);
}

/** A stream of events: where it is at each connection, and who takes them. */
type FollowedStream<Told extends { kind: string }> = {
  findPath: () => string;
  takers: { [Kind in Told["kind"]]: (event: Extract<Told, { kind: Kind }>) => void };
  /** The connection is lost. What it resolves to is how long to wait before the next try, if that is known. */
  onLost: (isStillLost: () => boolean) => Promise<number | undefined>;
};

/**
 * Follows a stream until it is left. While the browser tries again by itself it is left alone; it gives up on an answer that
 * is an error, and then the page tries again.
 */
export function followStream<Told extends { kind: string }>(stream: FollowedStream<Told>): () => void {
  const { findPath, takers, onLost } = stream;
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  const follow = () => {
    const opened = new EventSource(findPath());
    source = opened;
    for (const [kind, take] of Object.entries<(event: never) => void>(takers))
      opened.addEventListener(kind, (message) => {
        failures = 0;
        take(JSON.parse(message.data) as never);
      });
    opened.onerror = async () => {
      const isStillLost = () => opened === source && opened.readyState !== EventSource.OPEN;
      const waitMs = await onLost(isStillLost);
      if (!isStillLost() || opened.readyState !== EventSource.CLOSED) return;
      clearTimeout(retry);
      retry = setTimeout(follow, waitMs ?? findRetryDelay(failures++));
    };
  };
  follow();
  return () => {
    clearTimeout(retry);
    source?.close();
    source = null;
  };
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
