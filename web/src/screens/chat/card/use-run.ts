import { queryOptions, useQuery } from "@tanstack/react-query";
import type { RunDetail } from "../../../../../src/schema/api/inspect.ts";
import type { RunView } from "../../../../../src/schema/api/session.ts";
import { api } from "../../../api/client.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";

/** A run of the session around this part of the page. Rows are made only for runs that are known. */
export function useRun(runId: string): RunView {
  const signal = useSession().run(runId);
  if (!signal) throw new Error(`the session has no run ${runId}`);
  return useSignal(signal);
}

/** The request for the long texts of a run. What it was asked is known from the start; the rest only once it has ended. */
export function detailQuery(runId: string, moment: "asked" | "ended") {
  return queryOptions({
    queryKey: ["run", runId, moment],
    queryFn: () => api.get<RunDetail>(`/api/runs/${runId}`),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The long texts of a run, if they are wanted. */
export function useRunDetail(runId: string, isWanted: boolean, moment: "asked" | "ended") {
  return useQuery({ ...detailQuery(runId, moment), enabled: isWanted });
}
