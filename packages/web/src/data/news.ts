import type { NewsEvent } from "@retinue/core/schema/api/stream";
import { Signal, useSignal } from "../live/signal.ts";
import { followStream, whileVisible } from "../live/stream.ts";
import { loadWaiting, renew } from "./queries.ts";

/** How the page and the server stand to each other. */
type Connection = "connecting" | "open" | "lost" | "signed-out";

type News = { connection: Connection; asks: number };

const news = new Signal<News>({ connection: "connecting", asks: 0 });
let startedAtMs: number | undefined;
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
    glances = undefined;
    const leave = followStream<NewsEvent>({
      findPath: () => "/api/events",
      onLost: explainLoss,
      takers: {
        hello: (hello) => {
          set({ connection: "open", asks: hello.asks });
          // What happened between loading a list and the stream was not announced.
          if (startedAtMs === undefined) renewLists();
          else void renew();
          startedAtMs = hello.startedAtMs;
        },
        sessions: () => void renew({ queryKey: ["sessions"] }),
        asks: ({ asks }) => {
          set({ asks });
          renewLists();
        },
        agents: () => void renew({ queryKey: ["agents"] }),
      },
    });
    return () => {
      leave();
      glances = setInterval(() => void glance(), GLANCE_MS);
    };
  });
}

/** A hidden page has no stream, but its title still says whether the person is needed. */
async function glance(): Promise<void> {
  const list = await loadWaiting().catch(() => null);
  if (list && glances !== undefined) set({ asks: list.approvals.length });
}

function renewLists(): void {
  void renew({ queryKey: ["approvals"] });
  void renew({ queryKey: ["sessions"] });
}

/** Asks the server why. A new link, opened in another tab, signs this one in too. */
async function explainLoss(isStillLost: () => boolean): Promise<number | undefined> {
  const status = await fetch("/api/about").then(
    (response) => response.status,
    () => 0,
  );
  // Meanwhile the page may have gone out of sight, or the browser may have come back by itself.
  if (isStillLost()) set({ connection: status === 401 ? "signed-out" : "lost" });
  return status === 401 ? SIGNED_OUT_MS : undefined;
}

/** The connection and the number of calls that wait for a person. */
export function useNews(): News {
  return useSignal(news);
}
