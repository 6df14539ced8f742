/** Placeholder until the feeds are there. */
export type Feeds = {
  /** The stream of one session after a seq, as server-sent events. */
  session(sessionId: string, after: number, signal: AbortSignal): Response;
  /** The stream of everything, as server-sent events. */
  news(signal: AbortSignal): Response;
  close(): void;
};
