import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { MomentList } from "../../../../../src/schema/api/inspect.ts";
import type { Trace } from "../../../../../src/schema/inspect/trace.ts";
import { api } from "../../../api/client.ts";
import { originOf } from "../drawing/drawing.ts";
import { type Moment, momentsOf } from "./course/moment.ts";

const LEAST_WAIT_MS = 2_000;
const WAIT_PER_LOAD = 8;

/** When the calls of a trace began and ended; asked for once they are wanted, and again while something is at work. */
export function useMoments(trace: Trace, isWanted: boolean) {
  const { id, state } = trace.session;
  const tookMs = useRef(0);
  return useQuery({
    queryKey: ["moments", id, state],
    queryFn: async () => {
      const beganMs = performance.now();
      const moments = await loadMoments(id, originOf(trace));
      tookMs.current = performance.now() - beganMs;
      return moments;
    },
    enabled: isWanted,
    staleTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: () => state === "running" && Math.max(LEAST_WAIT_MS, tookMs.current * WAIT_PER_LOAD),
  });
}

async function loadMoments(sessionId: string, originMs: number): Promise<Moment[]> {
  const pages: Moment[][] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: MomentList = await api.get(`/api/sessions/${sessionId}/moments?after=${after}`);
    pages.push(momentsOf(page, originMs));
    after = page.next;
  }
  return pages.flat();
}
