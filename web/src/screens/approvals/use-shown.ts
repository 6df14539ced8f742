import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { api } from "../../api/client.ts";

/**
 * The question on show: the one that the address names, or else the oldest, which then stays until another is chosen. What
 * lies under the pointer never changes by itself. One that is in neither list is asked for.
 */
export function useShown(
  named: string | undefined,
  waiting: readonly ApprovalView[],
  settled: readonly ApprovalView[],
): { shown: ApprovalView | null; isSought: boolean } {
  const last = useRef<ApprovalView | null>(null);
  const wanted = named ?? last.current?.approvalId ?? waiting[0]?.approvalId;
  const isWanted = ({ approvalId }: ApprovalView) => approvalId === wanted;
  const listed = waiting.find(isWanted) ?? settled.find(isWanted);
  const isMissing = wanted !== undefined && !listed;
  const asked = useQuery({
    queryKey: ["approvals", "one", wanted],
    queryFn: () => api.get<ApprovalView>(`/api/approvals/${encodeURIComponent(wanted ?? "")}`),
    enabled: isMissing,
  });
  const found = listed ?? (isMissing ? asked.data : undefined);
  if (found) last.current = found;
  const shown = last.current?.approvalId === wanted ? last.current : null;
  return { shown, isSought: isMissing && shown === null && asked.isPending };
}
