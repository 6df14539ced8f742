import type { RightsRow } from "@retinue/core/schema/api/agent";
import { CircleCheck, CircleDashed, CircleDot, CircleHelp, CircleX, ShieldQuestion } from "lucide-react";
import { Fragment } from "react";
import { join, REACHABLE } from "./class-names.ts";
import { Empty } from "./states.tsx";
import { Badge, type BadgeLook } from "./status.tsx";

/** What becomes of a call, the most worth knowing first. */
export const VERDICTS: Readonly<Record<RightsRow["verdict"], BadgeLook & { soft: string }>> = {
  allow: { word: "allowed", tone: "text-ok", soft: "bg-ok-soft", icon: CircleCheck },
  ask: { word: "asks you", tone: "text-warn", soft: "bg-warn-soft", icon: CircleHelp },
  depends: { word: "depends", tone: "text-run", soft: "bg-run-soft", icon: CircleDashed },
  deny: { word: "denied", tone: "text-bad", soft: "bg-bad-soft", icon: CircleX },
};

/** What becomes of a call, as icon and word. */
export function VerdictMark({ verdict }: { verdict: RightsRow["verdict"] }) {
  return <Badge data-verdict={verdict} look={VERDICTS[verdict]} quiet className="h-auto text-xs" />;
}

/** Whether a row has these letters in its tool, layer or rule. */
export function fitsRights({ tool, groups, layer, rule }: RightsRow, words: string): boolean {
  return [tool, ...groups, layer, rule ?? ""].join(" ").toLowerCase().includes(words.trim().toLowerCase());
}

type RightsTableProps = { rows: readonly RightsRow[]; before?: readonly RightsRow[] | null };

/** For every tool what becomes of a call, and the layer and rule that decide it; what was otherwise `before` is marked. */
export function RightsTable({ rows, before = null }: RightsTableProps) {
  const earlier = new Map(before?.map((row) => [row.tool, row.verdict]));
  if (rows.length === 0) return <Empty icon={ShieldQuestion} title="No tool fits" />;
  return (
    <section
      aria-label="Effective rights"
      {...REACHABLE}
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse text-left text-xs">
        <thead className="bg-raised text-2xs text-ink-3">
          <tr>
            {["Tool", "Verdict", "Deciding layer and rule"].map((head) => (
              <th key={head} scope="col" className="px-2 py-1 font-medium whitespace-nowrap">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.kind} ${row.tool}`} row={row} was={earlier.get(row.tool) ?? row.verdict} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row, was }: { row: RightsRow; was: RightsRow["verdict"] }) {
  const isChanged = was !== row.verdict;
  const others = row.patterns.filter((pattern) => pattern !== row.rule);
  return (
    <tr
      data-changed={isChanged || undefined}
      className={join("border-t border-line align-top", isChanged && "bg-accent-soft")}
    >
      <th scope="row" className="px-2 py-1 font-normal">
        <code className="font-mono">
          {row.tool.split("_").map((part, index) => (
            // Parts of one name never move.
            <Fragment key={`${index.toString()}${part}`}>
              {index > 0 && "_"}
              <wbr />
              {part}
            </Fragment>
          ))}
        </code>
        {row.kind === "group" && <span className="text-2xs text-ink-3"> group</span>}
      </th>
      <td className="px-2 py-1">
        <VerdictMark verdict={row.verdict} />
        {isChanged && (
          <p className="flex items-center gap-1 text-2xs whitespace-nowrap text-ink-2">
            <CircleDot aria-hidden className="size-3" /> was {VERDICTS[was].word}
          </p>
        )}
      </td>
      <td className="w-full px-2 py-1">
        <span className="text-ink-2">{row.layer || "–"}</span>
        {row.rule && <code className="ml-2 font-mono wrap-anywhere">{row.rule}</code>}
        {others.length > 0 && (
          <p className="text-2xs text-ink-3">
            also{" "}
            {others.map((pattern, index) => (
              <Fragment key={pattern}>
                {index > 0 && ", "}
                <code className="font-mono wrap-anywhere">{pattern}</code>
              </Fragment>
            ))}
          </p>
        )}
      </td>
    </tr>
  );
}
