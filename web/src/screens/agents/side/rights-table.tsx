import { CircleDot, ShieldQuestion } from "lucide-react";
import { Fragment } from "react";
import type { RightsRow } from "../../../../../src/schema/api/agent.ts";
import { join } from "../../../ui/join.ts";
import { REACHABLE } from "../../../ui/reachable.ts";
import { Empty } from "../../../ui/states.tsx";
import { VERDICTS, VerdictMark } from "../controls/verdict-mark.tsx";

/** The effective rights; what the file says otherwise is marked. */
export function RightsTable({
  rows,
  before,
}: {
  rows: readonly RightsRow[];
  before: readonly RightsRow[] | null;
}) {
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
