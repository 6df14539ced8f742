import type { RightsRow } from "@retinue/core/schema/api/agent";
import { Ban, CircleCheck, CircleHelp, Hand } from "lucide-react";
import { useMemo, useState } from "react";
import { join } from "../../../ui/class-names.ts";
import { Nothing, PaneSection, type TabProps } from "./section.tsx";

const VERDICTS = {
  allow: { icon: CircleCheck, tone: "text-ok" },
  ask: { icon: Hand, tone: "text-warn" },
  deny: { icon: Ban, tone: "text-bad" },
  depends: { icon: CircleHelp, tone: "text-off" },
} as const;

/** What the run was allowed to do when it began: each tool, the verdict, and the layer and rule that decided. */
export function RunRightsTab({ detail: { rights, delegatesTo } }: TabProps) {
  const [filter, setFilter] = useState("");
  const shown = useMemo(() => {
    const word = filter.trim().toLowerCase();
    const fits = ({ tool, verdict, layer, rule, groups }: RightsRow) =>
      `${tool} ${verdict} ${layer} ${rule ?? ""} ${groups.join(" ")}`.toLowerCase().includes(word);
    return (rights ?? []).filter(fits);
  }, [rights, filter]);
  if (rights === null) return <Nothing>The record does not hold the rights of this run.</Nothing>;
  return (
    <>
      <PaneSection title={`May use (${rights.length})`}>
        <input
          type="search"
          aria-label="Filter tools"
          placeholder="Filter by tool, verdict, layer or rule"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="h-8 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-ink-3"
        />
        {shown.length === 0 ? <Nothing>Nothing fits.</Nothing> : <RightsTable rows={shown} />}
      </PaneSection>
      <PaneSection title="May delegate to">
        {delegatesTo.length === 0 ? (
          <Nothing>No other agent.</Nothing>
        ) : (
          <p className="text-sm wrap-anywhere">{delegatesTo.join(", ")}</p>
        )}
      </PaneSection>
    </>
  );
}

function RightsTable({ rows }: { rows: readonly RightsRow[] }) {
  return (
    <table className="w-full table-fixed text-left text-xs">
      <thead className="text-2xs text-ink-3">
        <tr>
          <th className="w-[34%] py-1 font-medium">Tool</th>
          <th className="w-20 py-1 font-medium">Verdict</th>
          <th className="py-1 font-medium">Decided by</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.kind} ${row.tool}`} className="border-t border-line align-top">
            <td className="py-1.5 pr-2 font-mono wrap-anywhere">{row.tool}</td>
            <td className="py-1.5 pr-2">
              <Verdict verdict={row.verdict} />
            </td>
            <td className="py-1.5 wrap-anywhere text-ink-2">
              {row.layer}
              {row.rule && <code className="ml-1.5 font-mono text-ink-3">{row.rule}</code>}
              {row.patterns.length > 0 && (
                <span className="block font-mono text-ink-3">{row.patterns.join(", ")}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Verdict({ verdict }: { verdict: RightsRow["verdict"] }) {
  const { icon: Icon, tone } = VERDICTS[verdict];
  return (
    <span className={join("inline-flex items-center gap-1 font-medium", tone)}>
      <Icon aria-hidden className="size-3.5" /> {verdict}
    </span>
  );
}
