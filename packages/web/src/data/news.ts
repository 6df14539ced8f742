import type { NewsEvent } from "@retinue/core/schema/api/stream";
import { Signal, useSignal } from "../live/signal.ts";
import { findRetryDelay, listenTo, whileVisible } from "../live/stream.ts";
import { loadWaiting, renew } from "./queries.ts";

/** How the page and the server stand to each other. */
type Connection = "connecting" | "open" | "lost" | "signed-out";

type News = { connection: Connection; asks: number };

const news = new Signal<News>({ connection: "connecting", asks: 0 });
let startedAtMs: number | undefined;
let source: EventSource | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let glances: ReturnType<typeof setInterval> | undefined;
const SIGNED_OUT_MS = 5_000;
const GLANCE_MS = 30_000;

function set(change: Partial<News>): void {
  news.set({ ...news.value, ...change });
}

/** Opens the stream that says what is out of date, and keeps it open while the page is seen. */
export function followNews(): void {
  whileVisible(() => {
    clearInterval(glances);
    follow();
    return () => {
      clearTimeout(retry);
      source?.close();
      source = undefined;
      glances = setInterval(() => void glance(), GLANCE_MS);
    };
  });
}

/** A hidden page has no stream, but its title still says whether the person is needed. */
async function glance(): Promise<void> {
  const list = await loadWaiting().catch(() => null);
  if (list && source === undefined) set({ asks: list.approvals.length });
}

function follow(): void {
  clearTimeout(retry);
  source?.close();
  const opened = new EventSource("/api/events");
  source = opened;
  const on = listenTo<NewsEvent>(opened);
  on("hello", (hello) => {
    failures = 0;
    set({ connection: "open", asks: hello.asks });
    // What happened between loading a list and the stream was not announced.
    if (startedAtMs === undefined) renewLists();
    else void renew();
    startedAtMs = hello.startedAtMs;
  });
  on("sessions", () => void renew({ queryKey: ["sessions"] }));
  on("asks", ({ asks }) => {
    set({ asks });
    renewLists();
  });
  on("agents", () => void renew({ queryKey: ["agents"] }));
  opened.onerror = () => void lost(opened);
}

function renewLists(): void {
  void renew({ queryKey: ["approvals"] });
  void renew({ queryKey: ["sessions"] });
}

/** A browser gives up on an answer that is an error, so the page asks why and tries again by itself. */
async function lost(from: EventSource): Promise<void> {
  const status = await fetch("/api/about").then(
    (response) => response.status,
    () => 0,
  );
  // Meanwhile the page may have gone out of sight, or the browser may have come back by itself.
  if (from !== source || from.readyState === EventSource.OPEN) return;
  set({ connection: status === 401 ? "signed-out" : "lost" });
  if (from.readyState !== EventSource.CLOSED) return;
  clearTimeout(retry);
  // A new link, opened in another tab, signs this one in too.
  retry = setTimeout(follow, status === 401 ? SIGNED_OUT_MS : findRetryDelay(failures++));
}

/** The connection and the number of calls that wait for a person. */
export function useNews(): News {
  return useSignal(news);
}
