import { Ban, Biohazard, CircleCheck, CircleSlash } from "lucide-react";
import { Link } from "wouter";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { AgentChain } from "../../ui/approval/agent-chain.tsx";
import { Countdown } from "../../ui/approval/countdown.tsx";
import { RiskBadge } from "../../ui/approval/risk-badge.tsx";
import { join } from "../../ui/join.ts";
import { showAge } from "../../ui/measures.ts";
import { visibleText } from "../../ui/text/visible-text.ts";

/** One call in the list; the whole of it is a link. */
export function ApprovalRow({
  approval,
  isWaiting,
  isChosen,
  nowMs,
  onChoose,
}: {
  approval: ApprovalView;
  isWaiting: boolean;
  isChosen: boolean;
  nowMs: number;
  onChoose: (id: string) => void;
}) {
  const { approvalId, chain, tool, session, sessionId, risk, tainted, expiresAtMs } = approval;
  return (
    <li className="[contain-intrinsic-size:auto_5.5rem] [content-visibility:auto]">
      <Link
        href={`/approvals/${encodeURIComponent(approvalId)}`}
        onClick={() => onChoose(approvalId)}
        aria-current={isChosen ? "true" : undefined}
        data-approval={approvalId}
        className={join(
          "grid grid-cols-1 gap-1 border-b border-line px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2",
          isChosen && "bg-accent-soft hover:bg-accent-soft",
        )}
      >
        <span className="flex items-start gap-2">
          <span className="min-w-0 flex-1">
            <AgentChain chain={chain} />
          </span>
          <span className="figures shrink-0 pt-0.5 text-2xs text-ink-3">
            {showAge(approval.answer?.atMs ?? approval.requestedAtMs, nowMs)}
          </span>
        </span>
        <span className="truncate font-mono text-xs text-ink-2">{gistOf(approval)}</span>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
          {isWaiting ? <RiskBadge risk={risk} /> : <Outcome approval={approval} />}
          {isWaiting && tainted && (
            <span className="inline-flex items-center gap-1 text-2xs font-medium text-warn">
              <Biohazard aria-hidden className="size-3.5" /> outside text
            </span>
          )}
          {isWaiting && expiresAtMs !== null && <Countdown expiresAtMs={expiresAtMs} />}
          <span className="min-w-0 flex-1 basis-24 truncate text-2xs" title={session || sessionId}>
            {session || sessionId}
          </span>
        </span>
        <span className="sr-only">{tool}</span>
      </Link>
    </li>
  );
}

function Outcome({ approval: { answer } }: { approval: ApprovalView }) {
  const [Icon, word, tone] =
    answer === null
      ? ([CircleSlash, "not needed any more", "text-off"] as const)
      : answer.allowed
        ? ([CircleCheck, "allowed", "text-ok"] as const)
        : ([Ban, "denied", "text-bad"] as const);
  return (
    <span className={join("inline-flex items-center gap-1 text-2xs font-medium", tone)}>
      <Icon aria-hidden className="size-3.5" /> {word}
      {answer && <span className="font-normal text-ink-3">by {visibleText(answer.by)}</span>}
    </span>
  );
}

/** The call in a line; the whole of it is shown once it is chosen. */
function gistOf({ tool, input, presented, targets }: ApprovalView): string {
  const command = typeof input === "object" && input !== null && "command" in input ? input.command : null;
  const said = typeof command === "string" ? command : targets.join(", ") || presented;
  return visibleText(`${tool} ${said || (JSON.stringify(input) ?? "")}`)
    .replaceAll(/\s+/g, " ")
    .slice(0, 300);
}
