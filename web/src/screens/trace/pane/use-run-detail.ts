import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RunDetail, RunDiff } from "../../../../../src/schema/api/inspect.ts";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { api } from "../../../api/client.ts";

/** Everything about a run; read again once it has ended. */
export function useRunDetail({ runId, closedSeq }: TraceRun) {
  return useQuery({
    queryKey: ["run", runId, closedSeq],
    queryFn: () => api.get<RunDetail>(`/api/runs/${runId}`),
    placeholderData: keepPreviousData,
  });
}

/** What a run and everything below it changed. */
export function useRunDiff({ runId, closedSeq }: TraceRun) {
  return useQuery({
    queryKey: ["run", runId, closedSeq, "diff"],
    queryFn: () => api.get<RunDiff>(`/api/runs/${runId}/diff`),
  });
}
