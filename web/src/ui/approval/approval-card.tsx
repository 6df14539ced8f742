import { Biohazard, PauseCircle } from "lucide-react";
import { type KeyboardEvent, type Ref, useRef } from "react";
import { Link } from "wouter";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { useApprovals } from "../../api/queries.ts";
import { isPairBegun, useShortcuts } from "../../shell/shortcuts.ts";
import { join } from "../join.ts";
import { visibleText } from "../text/visible-text.ts";
import { AgentChain } from "./agent-chain.tsx";
import { ANSWER_KEYS } from "./answer-buttons.tsx";
import { AnswerForm } from "./answer-form.tsx";
import { AskedCall } from "./asked-call.tsx";
import { Countdown } from "./countdown.tsx";
import { GivenAnswer } from "./given-answer.tsx";
import { RiskBadge, riskMeaning } from "./risk-badge.tsx";
import { type Answer, useAnswer } from "./use-answer.ts";
import { useArmed } from "./use-armed.ts";
import { VisibleText } from "./visible-text-block.tsx";

/**
 * A call that waits for a person, whole: who asks, exactly what for, and the answers. Where it has the page to itself its keys
 * answer at once; a compact one, which may stand among others, must have the focus. Neither keys nor clicks answer before it
 * has been there for a moment.
 */
export function ApprovalCard({
  approval,
  compact = false,
  isGone = false,
  onDone,
  ref,
}: {
  approval: ApprovalView;
  compact?: boolean;
  /** It is not among those that wait any more. */
  isGone?: boolean;
  onDone?: () => void;
  ref?: Ref<HTMLElement>;
}) {
  const note = useRef<HTMLInputElement>(null);
  const isArmed = useArmed(`${approval.approvalId} ${useWaitingIds()}`);
  const answering = useAnswer(approval.approvalId, onDone);
  const isOpen = approval.answer === null && !isGone;
  const isReady = isArmed && isOpen && !answering.isPending && !answering.isSuccess;
  // Two keys may come before the page is drawn again.
  const isSent = useRef(false);
  const give = (answer: Answer, words: string) => {
    if (!isReady || isSent.current) return;
    isSent.current = true;
    answering.mutate(
      { answer, note: words },
      {
        onError: () => {
          isSent.current = false;
        },
      },
    );
  };
  useShortcuts(
    compact
      ? []
      : ANSWER_KEYS.map(({ keys, answer, name }) => ({
          keys,
          does: `${name}, at a question`,
          isAnswer: true,
          act: () => give(answer, note.current?.value ?? ""),
        })),
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = isPlainKey(event) ? ANSWER_KEYS.find(({ keys }) => keys === event.key) : undefined;
    if (!compact || !chosen || !isReady) return;
    event.preventDefault();
    give(chosen.answer, note.current?.value ?? "");
  };
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label={`${visibleText(approval.chain.at(-1) ?? "An agent")} asks to use ${visibleText(approval.tool)}`}
      onKeyDown={onKeyDown}
      className={join("grid min-w-0 rounded-lg outline-offset-4", compact ? "gap-2" : "gap-3")}
    >
      <AskedBy approval={approval} />
      <Reason approval={approval} />
      <AskedCall asked={approval} />
      <Targets targets={approval.targets} />
      {approval.answer && <GivenAnswer answer={approval.answer} />}
      {isOpen && (
        <div
          className={
            compact ? "" : "sticky bottom-0 -mx-4 border-t border-line bg-panel/95 px-4 py-3 backdrop-blur"
          }
        >
          <AnswerForm isReady={isReady} compact={compact} noteRef={note} onAnswer={give} />
        </div>
      )}
    </section>
  );
}

/** Where one question comes or goes, others move, and a click may land on one it was not meant for. */
function useWaitingIds(): string {
  return (
    useApprovals()
      .data?.approvals.map(({ approvalId }) => approvalId)
      .join() ?? ""
  );
}

/** A key by itself: not held down, not typed into a field, and not the second of a pair such as `g a`. */
function isPlainKey(event: KeyboardEvent): boolean {
  if (event.repeat || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName))
    return false;
  return !isPairBegun(event.timeStamp);
}

function AskedBy({ approval }: { approval: ApprovalView }) {
  const { chain, tool, session, sessionId, expiresAtMs, answer } = approval;
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        <AgentChain chain={chain} />
        <span className="text-ink-2">
          asks to use{" "}
          <code className="rounded bg-raised px-1.5 py-0.5 font-mono text-xs text-ink">
            <VisibleText text={tool} />
          </code>
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
        <span className="min-w-0 wrap-anywhere">
          in{" "}
          <Link
            href={`/chat/${encodeURIComponent(sessionId)}`}
            className="text-ink-2 underline decoration-line-strong underline-offset-2 hover:text-ink"
          >
            {session || sessionId}
          </Link>
        </span>
        {answer === null && <Countdown expiresAtMs={expiresAtMs} />}
      </div>
    </div>
  );
}

function Reason({ approval }: { approval: ApprovalView }) {
  const { risk, reason, tainted, isParked, answer } = approval;
  return (
    <ul className="grid gap-1.5 rounded-lg border border-line bg-panel px-3 py-2.5 text-sm">
      <li className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RiskBadge risk={risk} />
        <span className="text-ink-3">{riskMeaning(risk)}</span>
        <span className="min-w-0 basis-full wrap-anywhere">
          <VisibleText text={reason} />
        </span>
      </li>
      {tainted && (
        <li className="flex items-start gap-2 text-ink-2">
          <Biohazard aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
          <span>
            <strong className="font-semibold text-warn">Text from outside has entered this run.</strong> What
            it asks for may be the wish of a page or a mail, not yours.
          </span>
        </li>
      )}
      {isParked && answer === null && (
        <li className="flex items-start gap-2 text-ink-2">
          <PauseCircle aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
          Its session is parked. It goes on once everything it waits for is answered.
        </li>
      )}
    </ul>
  );
}

function Targets({ targets }: { targets: readonly string[] }) {
  if (targets.length === 0) return null;
  return (
    <div className="text-xs">
      <p className="mb-1 text-ink-3">It would touch</p>
      <ul className="flex flex-wrap gap-1">
        {[...new Set(targets)].map((target) => (
          <li
            key={target}
            className="max-w-full rounded border border-line bg-raised px-1.5 py-0.5 font-mono text-2xs whitespace-pre-wrap wrap-anywhere text-ink-2"
          >
            <VisibleText text={target} />
          </li>
        ))}
      </ul>
    </div>
  );
}
