import { CopyText } from "../../ui/controls/copy-text.tsx";
import { visibleText } from "../../ui/text/visible-text.ts";
import type { Check } from "./group-checks.ts";
import { splitRemedy } from "./split-remedy.ts";
import { VerdictBadge } from "./verdict-badge.tsx";

/** What one check found, and what mends it. */
export function CheckRow({ check: { verdict, summary, details = [], remedy } }: { check: Check }) {
  return (
    <li className="flex gap-x-3 gap-y-1 border-t border-line px-4 py-2.5 first:border-t-0 max-sm:flex-col">
      <VerdictBadge standing={verdict} />
      <div className="grid min-w-0 flex-1 gap-1.5 text-sm">
        <p className={verdict === "skipped" ? "wrap-anywhere text-ink-2" : "wrap-anywhere"}>
          {visibleText(summary)}
        </p>
        {details.length > 0 && (
          <ul className="grid gap-0.5 font-mono text-xs text-ink-2">
            {[...new Set(details)].map((detail) => (
              <li key={detail} className="wrap-anywhere">
                {visibleText(detail)}
              </li>
            ))}
          </ul>
        )}
        {remedy && verdict !== "ok" && <RemedyLine remedy={remedy} />}
      </div>
    </li>
  );
}

function RemedyLine({ remedy }: { remedy: string }) {
  const { before, command, after } = splitRemedy(remedy);
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs text-ink-2">
      <span className="text-ink-3">What helps:</span>
      {before && <span className="wrap-anywhere">{visibleText(before)}</span>}
      {command && <CopyText text={command} />}
      {after && <span className="wrap-anywhere">{visibleText(after)}</span>}
    </div>
  );
}
