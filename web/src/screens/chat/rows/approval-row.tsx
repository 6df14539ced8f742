import { Hand } from "lucide-react";
import { Link } from "wouter";
import { useApprovals } from "../../../api/queries.ts";
import { ApprovalCard } from "../../../ui/approval/approval-card.tsx";
import { Cell } from "../../../ui/grid.tsx";

/** A call that waits for the person's word, where it happens. */
export function ApprovalRow({ approvalId }: { approvalId: string }) {
  const { data } = useApprovals();
  const approval = data?.approvals.find((one) => one.approvalId === approvalId);
  if (!approval) return <Cell className="h-1" />;
  return (
    <Cell className="pb-2">
      <div className="rounded-lg border border-line bg-panel p-3 pl-4 shadow-[inset_3px_0_0_var(--warn)]">
        <p className="mb-2 flex items-center gap-1.5 text-xs font-semibold text-warn">
          <Hand aria-hidden className="size-3.5" /> Needs you
          <Link
            href={`/approvals/${approvalId}`}
            className="ml-auto font-normal text-accent underline underline-offset-2"
          >
            Full view
          </Link>
        </p>
        <ApprovalCard approval={approval} compact />
      </div>
    </Cell>
  );
}
