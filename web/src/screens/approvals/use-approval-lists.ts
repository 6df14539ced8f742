import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ApprovalList, ApprovalView } from "../../../../src/schema/api/approval.ts";
import { api } from "../../api/client.ts";
import { useApprovals } from "../../api/queries.ts";

/** What waits, the oldest first, and what does not any more, the newest first. */
export type ApprovalLists = {
  waiting: readonly ApprovalView[];
  settled: readonly ApprovalView[];
  isLoading: boolean;
  failure: unknown;
  retry: () => void;
};

const NONE: readonly ApprovalView[] = [];

/** Both lists, kept up to date by the news stream. */
export function useApprovalLists(): ApprovalLists {
  const open = useApprovals();
  const all = useQuery({
    queryKey: ["approvals", "all"],
    queryFn: () => api.get<ApprovalList>("/api/approvals"),
  });
  const waiting = useMemo(
    () => open.data?.approvals.toSorted((one, other) => one.requestedAtMs - other.requestedAtMs) ?? NONE,
    [open.data],
  );
  const settled = useMemo(() => {
    const ids = new Set(waiting.map(({ approvalId }) => approvalId));
    const rest = all.data?.approvals.filter(({ approvalId }) => !ids.has(approvalId)) ?? NONE;
    return rest.toSorted((one, other) => lastMoment(other) - lastMoment(one));
  }, [all.data, waiting]);
  return {
    waiting,
    settled,
    isLoading: open.isPending,
    failure: open.data ? null : open.error,
    retry: () => void Promise.all([open.refetch(), all.refetch()]),
  };
}

function lastMoment({ answer, requestedAtMs }: ApprovalView): number {
  return answer?.atMs ?? requestedAtMs;
}
