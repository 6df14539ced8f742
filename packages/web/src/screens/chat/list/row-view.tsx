import { showCount, showNumber } from "@retinue/core/show/measures";
import { CornerDownRight, Hand } from "lucide-react";
import { memo, useState } from "react";
import { useApprovals, useRunDetail } from "../../../data/queries.ts";
import { ApprovalCard } from "../../../ui/approval-card.tsx";
import { join } from "../../../ui/class-names.ts";
import { Chevron, TextLink } from "../../../ui/controls.tsx";
import { Cell, GridRow } from "../../../ui/grid.tsx";
import { SEVERITIES, StatusIcon } from "../../../ui/status.tsx";
import { RunBody } from "../card/run-body.tsx";
import { RunRow } from "../card/run-row.tsx";
import { FOR_GOOD, useRun } from "../card/use-run.ts";
import { useChatView } from "../chat-view.ts";
import { AnswerRow } from "./answer-row.tsx";
import type { ChatRow, GroupCounts } from "./flatten-session.ts";

type RowViewProps = {
  row: ChatRow;
  index: number;
  isCurrent: boolean;
  measure: (element: HTMLElement | null) => void;
};

/** One line with its place in the tree. */
export const RowView = memo(function RowView({ row, index, isCurrent, measure }: RowViewProps) {
  const view = useChatView();
  const { key, kind, level } = row;
  return (
    <GridRow
      ref={measure}
      data-index={index}
      data-key={key}
      data-row={kind}
      aria-rowindex={index + 1}
      aria-level={level}
      {...(kind === "run" && {
        "aria-setsize": row.setSize,
        "aria-posinset": row.position,
        "aria-expanded": row.isOpen,
        "data-run": row.runId,
      })}
      {...(kind === "group" && { "aria-expanded": row.isOpen })}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => view.current.set(key)}
      className="group/row absolute top-0 left-0 w-full outline-none"
    >
      <div className="mx-auto flex max-w-5xl px-4 max-sm:px-3">
        <Guides level={level} />
        <div
          className={join(
            "min-w-0 flex-1 rounded-lg",
            "group-focus-visible/row:outline-2 group-focus-visible/row:-outline-offset-2 group-focus-visible/row:outline-accent",
          )}
        >
          <Content row={row} />
        </div>
      </div>
    </GridRow>
  );
});

function Content({ row }: { row: ChatRow }) {
  switch (row.kind) {
    case "person":
      return <PersonRow runId={row.runId} />;
    case "run":
      return <RunRow row={row} />;
    case "body":
      return <RunBody runId={row.runId} isRoot={row.level === 1} />;
    case "group":
      return <GroupRow row={row} />;
    case "approval":
      return <ApprovalRow approvalId={row.approvalId} />;
    case "said":
      return <SaidRow text={row.text} />;
    case "notice":
      return <NoticeRow message={row.message} tone={row.tone} />;
    case "answer":
      return <AnswerRow runId={row.runId} />;
  }
}

/** One thin line for each level above: where a row belongs is seen without counting. On a phone three are enough. */
function Guides({ level }: { level: number }) {
  if (level < 2) return null;
  return (
    <div
      aria-hidden
      className="shrink-0 bg-[repeating-linear-gradient(to_right,transparent_0_var(--guide),var(--line)_var(--guide)_calc(var(--guide)+1px),transparent_calc(var(--guide)+1px)_var(--indent))]"
      style={{ width: `calc(min(${level - 1}, var(--most)) * var(--indent))` }}
    />
  );
}

/** A call that waits for the person's approval, where it happens. */
function ApprovalRow({ approvalId }: { approvalId: string }) {
  const { data } = useApprovals();
  const approval = data?.approvals.find((one) => one.approvalId === approvalId);
  if (!approval) return <Cell className="h-1" />;
  return (
    <Cell className="pb-2">
      <div className="rounded-lg border border-line bg-panel p-3 pl-4 shadow-[inset_3px_0_0_var(--warn)]">
        <p className="mb-2 flex items-center gap-1.5 text-xs font-semibold text-warn">
          <Hand aria-hidden className="size-3.5" /> Needs you
          <TextLink href={`/approvals/${approvalId}`} className="ml-auto font-normal">
            Full view
          </TextLink>
        </p>
        <ApprovalCard approval={approval} compact />
      </div>
    </Cell>
  );
}

const PARTS: readonly [count: keyof GroupCounts, standing: string, word: string, colour: string][] = [
  ["failed", "failed", "failed", "bg-bad"],
  ["live", "running", "running", "bg-run"],
  ["done", "completed", "done", "bg-ok"],
  ["stopped", "cancelled", "stopped", "bg-off"],
];

/** One bar for many sub-agents: how they stand, failures first. */
function GroupRow({ row }: { row: Extract<ChatRow, { kind: "group" }> }) {
  const view = useChatView();
  const { key, size, isOpen } = row;
  const parts = PARTS.filter(([count]) => row[count] > 0);
  return (
    <Cell className="pb-1.5">
      <button
        type="button"
        tabIndex={-1}
        aria-expanded={isOpen}
        onClick={() => view.open(key, !isOpen)}
        className="grid w-full gap-1.5 rounded-lg border border-line bg-raised px-2.5 py-2 text-left hover:bg-hover"
      >
        <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
          <span className="flex items-center gap-1.5 text-sm font-medium">
            <Chevron isOpen={isOpen} className="size-3.5" />
            {showCount(size, "sub-agent")}
          </span>
          {parts.map(([count, standing, word]) => (
            <span key={count} className="figures flex items-center gap-1 text-xs text-ink-2">
              <StatusIcon standing={standing} />
              {showNumber(row[count])} {word}
            </span>
          ))}
        </span>
        <span aria-hidden className="flex h-1 gap-px overflow-hidden rounded-full">
          {parts.map(([count, , , colour]) => (
            <span key={count} className={join("min-w-1", colour)} style={{ flexGrow: row[count] }} />
          ))}
        </span>
      </button>
    </Cell>
  );
}

function NoticeRow({ message, tone }: { message: string; tone: keyof typeof SEVERITIES }) {
  const { icon: Icon, tone: colour, word } = SEVERITIES[tone];
  return (
    <Cell
      className={join(
        "mb-1 flex items-start gap-2 rounded-md px-2 py-1 text-xs",
        tone === "error" && "bg-bad-soft",
      )}
    >
      <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", colour)} />
      <p className="min-w-0 wrap-anywhere text-ink-2">
        <strong className={join("font-semibold", colour)}>{word}.</strong> {message}
      </p>
    </Cell>
  );
}

const CUT_AT = 300;
const LONG = 1_200;

function PersonRow({ runId }: { runId: string }) {
  const run = useRun(runId);
  const { data } = useRunDetail(run, { ...FOR_GOOD, enabled: run.task.length >= CUT_AT });
  const [isWhole, setWhole] = useState(false);
  const text = data?.task ?? run.task;
  const isLong = text.length > LONG;
  return (
    <Cell className="flex justify-end pt-3 pb-3">
      <div className="max-w-[min(85%,44rem)] rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2">
        <h2 className="sr-only">You asked</h2>
        <p className="text-base wrap-anywhere whitespace-pre-wrap">
          {isLong && !isWhole ? `${text.slice(0, LONG)}…` : text}
        </p>
        {isLong && (
          <button
            type="button"
            className="mt-1 text-xs font-medium text-accent"
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? "Show less" : "Show all"}
          </button>
        )}
      </div>
    </Cell>
  );
}

function SaidRow({ text }: { text: string }) {
  return (
    <Cell className="flex justify-end py-1">
      <p className="flex max-w-[85%] items-start gap-1.5 rounded-xl border border-line bg-panel px-3 py-1.5 text-sm">
        <CornerDownRight aria-hidden className="mt-1 size-3 shrink-0 text-ink-3" />
        <span className="wrap-anywhere whitespace-pre-wrap">
          <span className="sr-only">You said meanwhile: </span>
          {text}
        </span>
      </p>
    </Cell>
  );
}
