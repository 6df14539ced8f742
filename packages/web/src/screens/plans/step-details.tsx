import type { ExecutionPlan, PlanStep, StepResult } from "@retinue/core/schema/plan";
import { showCost, showCount, showShort, showSpacedDuration } from "@retinue/core/show/measures";
import { Check, Circle, CircleQuestionMark, FileText, X } from "lucide-react";
import { encodePart } from "../../data/client.ts";
import { TextLink } from "../../ui/controls.tsx";
import { AgentName } from "../../ui/face.tsx";
import { Markdown } from "../../ui/rich-text/markdown.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { StatusBadge } from "../../ui/status.tsx";

type StepDetailsProps = {
  step: PlanStep;
  number: number;
  needs: readonly string[];
  result: StepResult | undefined;
};

/** One step whole: the task as the agent reads it, what it waits for and touches, how success shows, and what came of it. */
export function StepDetails({ step, number, needs, result }: StepDetailsProps) {
  const { estimate, complexity, files, successCriteria } = step;
  const about = [
    needs.length > 0 ? `after ${needs.join(", ")}` : "starts right away",
    `about ${showCount(estimate.toolCalls, "tool call")}`,
    ...(estimate.minutes === undefined ? [] : [`${estimate.minutes} min`]),
    ...(complexity ? [`${complexity} complexity`] : []),
  ];
  return (
    <li
      id={`step-${step.id}`}
      tabIndex={-1}
      className="grid scroll-mt-4 gap-2 rounded-lg border border-line bg-panel px-4 py-3"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="figures grid size-5 place-items-center rounded-full bg-raised text-2xs font-semibold text-ink-2">
          {number}
        </span>
        <h3 className="min-w-0 text-sm font-semibold wrap-anywhere">{revealHidden(step.title)}</h3>
        {result && <StatusBadge standing={nameStepStatus(result)} />}
        <span className="ml-auto text-sm">
          <AgentName name={step.role} size="sm" />
        </span>
      </div>
      <p className="figures text-xs text-ink-3">{about.join(", ")}</p>
      <p className="text-sm whitespace-pre-wrap wrap-anywhere">{revealHidden(step.task)}</p>
      <ul aria-label="Done when" className="grid gap-0.5 text-sm text-ink-2">
        {[...new Set(successCriteria)].map((criterion) => (
          <li key={criterion} className="flex items-start gap-1.5">
            <CriterionMark verdict={result?.result?.criteria?.verdict} />
            <span className="min-w-0 wrap-anywhere">{revealHidden(criterion)}</span>
          </li>
        ))}
      </ul>
      {files.length > 0 && (
        <p className="flex items-start gap-1.5 text-xs text-ink-2">
          <FileText aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-3" />
          <span className="min-w-0 font-mono wrap-anywhere">{files.map(revealHidden).join("  ")}</span>
        </p>
      )}
      {result && <StepOutcome result={result} />}
    </li>
  );
}

/** What became of a step. */
export function StepOutcome({ result: { reason, reused, result } }: { result: StepResult }) {
  const figures = result && [
    showSpacedDuration(result.duration_ms),
    `${showShort(result.tokens.subtree)} tokens`,
    showCost(result.cost_usd.subtree),
    showCount(result.tool_calls_used, "tool call"),
  ];
  return (
    <div className="grid gap-1 border-t border-line pt-2 text-sm">
      {reason && <p className="wrap-anywhere text-ink-2">{revealHidden(reason)}</p>}
      {result && <Markdown text={result.summary} className="text-sm" />}
      <p className="figures flex flex-wrap gap-x-3 text-xs text-ink-3">
        {reused && <span>done by an earlier execution</span>}
        {figures && <span>{figures.join(", ")}</span>}
        {result && (
          <TextLink href={`/trace/${encodePart(result.session_id)}?run=${encodePart(result.run_id)}`}>
            Open in the trace
          </TextLink>
        )}
      </p>
    </div>
  );
}

const MARKS = {
  met: { Icon: Check, word: "met" },
  not_met: { Icon: X, word: "not met" },
  not_verified: { Icon: CircleQuestionMark, word: "not verified" },
} as const;

/** Only what was judged has a verdict. */
function CriterionMark({ verdict }: { verdict: keyof typeof MARKS | undefined }) {
  const { Icon, word } = verdict ? MARKS[verdict] : { Icon: Circle, word: "not judged yet" };
  return <Icon role="img" aria-label={word} className="mt-1 size-3.5 shrink-0 text-ink-3" />;
}

/** How a step stands, in the words of runs: one that was cut short is not simply done. */
export function nameStepStatus({ status, result, success }: StepResult): string {
  if (result?.partial && success) return "partial";
  return status === "completed" && !success ? "failed" : status;
}

/** What became of the steps that are in the plan now. */
export function listResults({ results }: ExecutionPlan): ReadonlyMap<string, StepResult> {
  return new Map(results.filter(({ replaced }) => !replaced).map((result) => [result.step_id, result]));
}
