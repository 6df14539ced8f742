import { useState } from "react";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { Button } from "../../../ui/button.tsx";
import { StepLine } from "./step-line.tsx";
import { useRun } from "./use-run.ts";

const BRIEF = 4;
const PAGE = 40;

/** Turns and calls of a run as compact lines, the latest last; `isBrief` shows only those of this moment. */
export function RunSteps({ runId, isBrief = false }: { runId: string; isBrief?: boolean }) {
  const run = useRun(runId);
  const all = useSignal(useSession().steps(runId));
  const [most, setMost] = useState(isBrief ? BRIEF : PAGE);
  const isLive = run.endedAtMs === null;
  const steps = all.filter((step) => isWorthALine(step, isLive));
  const hidden = Math.max(0, steps.length - most);
  if (steps.length === 0)
    return isBrief ? null : (
      <p className="text-xs text-ink-3">{all.length > 0 || isLive ? "Nothing yet." : "Loading…"}</p>
    );
  return (
    <ol aria-label="What it did" className="grid gap-px">
      {hidden > 0 && (
        <li>
          <Button kind="quiet" small className="-ml-1.5" onClick={() => setMost(most + PAGE)}>
            {hidden} earlier
          </Button>
        </li>
      )}
      {steps.slice(hidden).map((step) => (
        <li key={step.messageId} className="min-w-0">
          <StepLine step={step} />
        </li>
      ))}
    </ol>
  );
}

/** The turn under way is what streams; one that only made calls is told by them. */
function isWorthALine(step: StepView, isLive: boolean): boolean {
  if (step.kind === "call") return true;
  if (step.error) return true;
  return !(isLive && step.endedAtMs === null) && Boolean(step.text);
}
