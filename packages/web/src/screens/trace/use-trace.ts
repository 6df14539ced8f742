import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { readTrace, renew } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { createTimeAxis } from "./time-axis.ts";
import { indexTrace } from "./trace-index.ts";

const LEAST_WAIT_MS = 1_000;
const COUNT_MS = 4_000;
/** A trace that takes long to load is loaded less often: at most a fifth of the time goes into it. */
const WAIT_PER_LOAD = 4;

/** The trace of the surrounding session. While something is at work it is loaded again whenever the tree changes. */
export function useTrace() {
  const store = useSession();
  const { sessionId } = store;
  const tookMs = useRef(0);
  const query = useQuery({
    queryKey: ["trace", sessionId],
    queryFn: async () => {
      const beganMs = performance.now();
      const trace = await readTrace(sessionId);
      tookMs.current = performance.now() - beganMs;
      return trace;
    },
    // What is kept from an earlier visit is shown at once, and may be out of date by now.
    staleTime: 0,
    // Turns and calls change nothing about the tree, and are counted all the same.
    refetchInterval: ({ state: { data } }) =>
      data?.session.state === "running" && Math.max(COUNT_MS, tookMs.current * 2 * WAIT_PER_LOAD),
  });
  // The tree is what a person waits for; what keeps it up to date comes after it.
  const { isFetched } = query;
  useEffect(() => {
    if (isFetched) store.begin();
  }, [isFetched, store]);
  useReload(tookMs);
  const { data: trace, dataUpdatedAt } = query;
  const isRunning = trace?.session.state === "running";
  const now = useNow(isRunning);
  // By the server's clock: what it said last, and how long ago that was here.
  const nowMs = (trace?.endMs ?? 0) + (isRunning ? Math.max(0, now - dataUpdatedAt) : 0);
  const index = useMemo(() => indexTrace(trace?.runs ?? []), [trace]);
  const timeline = useMemo(() => createTimeAxis({ gaps: trace?.gaps ?? [] }, nowMs), [trace, nowMs]);
  return { query, trace, index, timeline, nowMs };
}

/** Loads the trace again after the tree has changed, at most as often as is good for both sides. */
function useReload(tookMs: { readonly current: number }): void {
  const store = useSession();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let loadedAtMs = performance.now();
    const reload = () => {
      timer = undefined;
      loadedAtMs = performance.now();
      void renew({ queryKey: ["trace", store.sessionId] });
    };
    const onChange = () => {
      // The first load of the session tells nothing that the trace does not say.
      if (timer !== undefined || store.loading.value.state === "loading") return;
      const wait = Math.max(LEAST_WAIT_MS, tookMs.current * WAIT_PER_LOAD);
      timer = setTimeout(reload, Math.max(0, loadedAtMs + wait - performance.now()));
    };
    let before = store.session.value;
    const leave = [
      store.shape.subscribe(onChange),
      store.session.subscribe(() => {
        const { value: now } = store.session;
        if (before && (now?.state !== before.state || now?.asks !== before.asks)) onChange();
        before = now;
      }),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of leave) stop();
    };
  }, [store, tookMs]);
}
