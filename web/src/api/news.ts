import { useSyncExternalStore } from "react";
import type { NewsEvent } from "../../../src/schema/api/stream.ts";
import { whileVisible } from "../live/while-visible.ts";
import { queryClient } from "./queries.ts";

/** How the page and the server stand to each other. */
export type Connection = "connecting" | "open" | "lost" | "signed-out";

type News = { connection: Connection; asks: number };

let news: News = { connection: "connecting", asks: 0 };
const listeners = new Set<() => void>();
let startedAtMs: number | undefined;
let source: EventSource | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

function set(change: Partial<News>): void {
  news = { ...news, ...change };
  for (const listener of listeners) listener();
}

/** Opens the stream that says what is out of date, and keeps it open while the page is seen. */
export function followNews(): void {
  whileVisible(() => {
    follow();
    return () => {
      clearTimeout(retry);
      source?.close();
    };
  });
}

function follow(): void {
  source?.close();
  source = new EventSource("/api/events");
  on("hello", (hello) => {
    failures = 0;
    set({ connection: "open", asks: hello.asks });
    if (startedAtMs !== undefined) void queryClient.invalidateQueries();
    startedAtMs = hello.startedAtMs;
  });
  on("sessions", () => void queryClient.invalidateQueries({ queryKey: ["sessions"] }));
  on("asks", ({ asks }) => {
    set({ asks });
    void queryClient.invalidateQueries({ queryKey: ["approvals"] });
    void queryClient.invalidateQueries({ queryKey: ["sessions"] });
  });
  on("agents", () => void queryClient.invalidateQueries({ queryKey: ["agents"] }));
  source.onerror = () => void lost();
}

function on<Kind extends NewsEvent["kind"]>(
  kind: Kind,
  take: (event: Extract<NewsEvent, { kind: Kind }>) => void,
): void {
  source?.addEventListener(kind, (message) => take(JSON.parse(message.data)));
}

/** A browser gives up on an answer that is an error, so the page asks why and tries again by itself. */
async function lost(): Promise<void> {
  const isGivenUp = source?.readyState === EventSource.CLOSED;
  const status = await fetch("/api/about").then(
    (response) => response.status,
    () => 0,
  );
  if (status === 401) {
    source?.close();
    set({ connection: "signed-out" });
    return;
  }
  set({ connection: "lost" });
  if (isGivenUp) retry = setTimeout(follow, Math.min(500 * 2 ** failures++, 5_000));
}

/** The connection and the number of calls that wait for a person. */
export function useNews(): News {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => news,
  );
}
