import { memo } from "react";
import { Row as GridRow } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";
import { RunBody } from "../card/run-body.tsx";
import { RunRow } from "../card/run-row.tsx";
import { useChatView } from "../chat-view.ts";
import { AnswerRow } from "./answer-row.tsx";
import { ApprovalRow } from "./approval-row.tsx";
import { GroupRow } from "./group-row.tsx";
import { NoticeRow } from "./notice-row.tsx";
import { PersonRow, SaidRow } from "./person-row.tsx";
import type { Row } from "./row.ts";

/** One line with its place in the tree. */
export const RowView = memo(function RowView({
  row,
  index,
  isCurrent,
  measure,
}: {
  row: Row;
  index: number;
  isCurrent: boolean;
  measure: (element: HTMLElement | null) => void;
}) {
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

function Content({ row }: { row: Row }) {
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
