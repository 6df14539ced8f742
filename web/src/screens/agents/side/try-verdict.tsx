import { TriangleAlert } from "lucide-react";
import type { TryResult } from "../../../../../src/schema/api/agent.ts";
import { join } from "../../../ui/join.ts";
import { VERDICTS, VerdictMark } from "../controls/verdict-mark.tsx";

/** The verdict large, then the reason, the risk, what it touches, and each layer's word. */
export function TryVerdict({ result, isStale }: { result: TryResult; isStale: boolean }) {
  const { decision, risk, targets, layers, fault } = result;
  const { icon: Icon, tone, soft, word } = VERDICTS[decision.verdict];
  return (
    <section
      aria-label="Verdict"
      aria-live="polite"
      className={join("grid grid-cols-1 gap-3", isStale && "opacity-60")}
    >
      <div className={join("flex gap-3 rounded-lg p-3", soft)}>
        <Icon aria-hidden className={join("size-6 shrink-0", tone)} />
        <div className="min-w-0">
          <p className={join("text-base font-semibold first-letter:uppercase", tone)}>
            {word}
            {isStale && <span className="text-xs font-normal"> before your last change</span>}
          </p>
          <p className="text-sm wrap-anywhere text-ink">{decision.reason}</p>
        </div>
      </div>
      {fault && (
        <p className="flex items-start gap-1.5 text-xs text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <span className="wrap-anywhere">The input is none of this tool's: {fault}</span>
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
        <dt className="text-ink-3">Risk</dt>
        <dd>{risk ?? "not known"}</dd>
        <dt className="text-ink-3">Touches</dt>
        <dd className="font-mono wrap-anywhere">{targets.join(", ") || "nothing that rules speak of"}</dd>
        <dt className="text-ink-3">Decided by</dt>
        <dd className="wrap-anywhere">
          {decision.layer} {decision.rule && <code className="font-mono">{decision.rule}</code>}
        </dd>
      </dl>
      <ol aria-label="What each layer says" className="grid rounded-md border border-line bg-panel text-xs">
        {layers.map(({ layer, verdict, rule }) => (
          <li key={layer} className="flex flex-wrap gap-x-3 border-line px-2 py-1 not-last:border-b">
            <span className="w-20 shrink-0">
              <VerdictMark verdict={verdict} />
            </span>
            <span className="min-w-32 flex-1 text-ink-2">{layer}</span>
            <code className="font-mono wrap-anywhere text-ink-2">{rule ?? "no rule matches"}</code>
          </li>
        ))}
      </ol>
    </section>
  );
}
