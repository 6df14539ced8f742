import { CircleCheck, CircleX, ShieldAlert } from "lucide-react";
import type { Problem } from "../../../../../src/schema/agent.ts";
import { useSignal } from "../../../live/signal.ts";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useDraft } from "../draft/use-draft.tsx";
import { ProblemLine } from "../list/problem-line.tsx";

const ORDER: readonly Problem["severity"][] = ["error", "warning", "info"];

/** Everything that is wrong or odd about the text, worst first, each with its remedy and its line. */
export function ProblemsTab({ onJump }: { onJump: ((line: number) => void) | null }) {
  const review = useSignal(useDraft().review);
  if (!review) return <Loading rows={3} label="Looking for problems" />;
  const { refusals, concerns, problems } = review;
  if (refusals.length + concerns.length + problems.length === 0) {
    return <Empty icon={CircleCheck} title="No problems" />;
  }
  const sorted = problems.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  return (
    <ul className="grid gap-2.5 p-4">
      {refusals.map((refusal) => (
        <li key={refusal} className="flex gap-2 text-xs">
          <CircleX aria-hidden className="mt-0.5 size-3.5 shrink-0 text-bad" />
          <p className="min-w-0 wrap-anywhere">
            <span className="font-medium text-bad">Cannot be saved</span> {refusal}
          </p>
        </li>
      ))}
      {concerns.map((concern) => (
        <li key={concern} className="flex gap-2 text-xs">
          <ShieldAlert aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
          <p className="min-w-0 wrap-anywhere">
            <span className="font-medium text-warn">Concern</span> {concern}
          </p>
        </li>
      ))}
      {sorted.map((problem) => (
        <li key={`${problem.line} ${problem.code} ${problem.message}`}>
          <ProblemLine problem={problem} place={<Place problem={problem} onJump={onJump} />} />
        </li>
      ))}
    </ul>
  );
}

function Place({ problem, onJump }: { problem: Problem; onJump: ((line: number) => void) | null }) {
  const words = problem.line > 0 ? `line ${problem.line} · ${problem.code}` : problem.code;
  if (!onJump || problem.line < 1) return words;
  return (
    <button
      type="button"
      onClick={() => onJump(problem.line)}
      className="rounded text-accent underline underline-offset-2"
    >
      {words}
    </button>
  );
}
