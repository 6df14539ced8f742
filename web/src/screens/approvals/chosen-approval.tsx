import { ArrowLeft, CircleHelp } from "lucide-react";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { ApprovalCard } from "../../ui/approval/approval-card.tsx";
import { Empty } from "../../ui/states.tsx";
import { visibleText } from "../../ui/text/visible-text.ts";

/** The chosen call in full. It stays as it is if somebody answers it elsewhere, and says so. */
export function ChosenApproval({
  approval,
  isWaiting,
  takesFocus,
  onDone,
}: {
  approval: ApprovalView | null;
  isWaiting: boolean;
  takesFocus: boolean;
  onDone: () => void;
}) {
  const card = useRef<HTMLElement>(null);
  const answeredHere = useRef(new Set<string>());
  const id = approval?.approvalId;
  const wasWaiting = useRef<string | null>(null);
  if (isWaiting && id) wasWaiting.current = id;
  useEffect(() => {
    if (takesFocus && id) card.current?.focus();
  }, [takesFocus, id]);
  if (!approval)
    return (
      <Empty icon={CircleHelp} title="There is no such question">
        It may belong to another project's record.{" "}
        <Link href="/approvals" className="text-accent underline">
          See what waits
        </Link>
      </Empty>
    );
  const isTakenElsewhere =
    !isWaiting && wasWaiting.current === id && !answeredHere.current.has(approval.approvalId);
  return (
    <div className="mx-auto grid w-full max-w-3xl gap-3 px-4 pt-4 pb-0">
      <Link href="/approvals" className="inline-flex items-center gap-1 text-xs text-ink-2 lg:hidden">
        <ArrowLeft aria-hidden className="size-3.5" /> All questions
      </Link>
      {isTakenElsewhere && (
        <p role="status" className="rounded-md bg-run-soft px-3 py-2 text-sm text-run">
          {approval.answer
            ? `This was answered elsewhere, by ${visibleText(approval.answer.by)}.`
            : "This does not wait any more: it was answered elsewhere, or its run has ended."}
        </p>
      )}
      {!isWaiting && !isTakenElsewhere && approval.answer === null && (
        <p className="rounded-md bg-off-soft px-3 py-2 text-sm text-ink-2">
          Nobody answered this. Its session has ended, so it does not wait any more.
        </p>
      )}
      <ApprovalCard
        key={approval.approvalId}
        ref={card}
        approval={approval}
        isGone={!isWaiting}
        onDone={() => {
          answeredHere.current.add(approval.approvalId);
          onDone();
        }}
      />
    </div>
  );
}
