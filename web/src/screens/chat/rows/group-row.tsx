import { ChevronRight } from "lucide-react";
import { Cell } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";
import { countOf } from "../../../ui/measures.ts";
import { StatusIcon } from "../../../ui/status.tsx";
import { useChatView } from "../chat-view.ts";
import type { GroupCounts, Row } from "./row.ts";

const PARTS: readonly [count: keyof GroupCounts, standing: string, word: string, colour: string][] = [
  ["failed", "failed", "failed", "bg-bad"],
  ["live", "running", "running", "bg-run"],
  ["done", "completed", "done", "bg-ok"],
  ["stopped", "cancelled", "stopped", "bg-off"],
];

/** One bar for many sub-agents: how they stand, failures first. */
export function GroupRow({ row }: { row: Extract<Row, { kind: "group" }> }) {
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
            <ChevronRight
              aria-hidden
              className={join("size-3.5 text-ink-3 transition-transform", isOpen && "rotate-90")}
            />
            {countOf(size, "sub-agent")}
          </span>
          {parts.map(([count, standing, word]) => (
            <span key={count} className="figures flex items-center gap-1 text-xs text-ink-2">
              <StatusIcon standing={standing} />
              {row[count].toLocaleString("en-US")} {word}
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
