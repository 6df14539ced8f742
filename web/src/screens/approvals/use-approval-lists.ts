import { useInfiniteQuery } from "@tanstack/react-query";
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
  /** Loads answers further back; null if there are none. */
  loadOlder: (() => void) | null;
};

const NONE: readonly ApprovalView[] = [];

/** Both lists, kept up to date by the news stream. */
export function useApprovalLists(): ApprovalLists {
  const open = useApprovals();
  const answered = useInfiniteQuery({
    queryKey: ["approvals", "answered"],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      api.get<ApprovalList>(
        `/api/approvals?open=0${pageParam === "" ? "" : `&after=${encodeURIComponent(pageParam)}`}`,
      ),
    getNextPageParam: ({ next }) => next,
  });
  const waiting = open.data?.approvals ?? NONE;
  const settled = useMemo(() => {
    const ids = new Set(waiting.map(({ approvalId }) => approvalId));
    const all = answered.data?.pages.flatMap(({ approvals }) => approvals) ?? NONE;
    return all.filter(({ approvalId }) => !ids.has(approvalId));
  }, [answered.data, waiting]);
  return {
    waiting,
    settled,
    isLoading: open.isPending,
    failure: open.data ? null : open.error,
    retry: () => void Promise.all([open.refetch(), answered.refetch()]),
    loadOlder: answered.hasNextPage ? () => void answered.fetchNextPage() : null,
  };
}
