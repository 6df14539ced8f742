import type { Problem } from "@retinue/core/schema/agent";
import type { AgentReview } from "@retinue/core/schema/api/agent";
import { CircleCheck, CircleX, FileCheck, ShieldAlert } from "lucide-react";
import { useSignal } from "../../../live/signal.ts";
import { join } from "../../../ui/class-names.ts";
import { PaneTabs } from "../../../ui/pane-tabs.tsx";
import { DiffView } from "../../../ui/rich-text/diff-view.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useChoice } from "../../../ui/use-address.ts";
import { ProblemLine } from "../agent-marks.tsx";
import { useAgentDraft } from "../use-agent-draft.tsx";
import { DelegationTab } from "./delegation-tab.tsx";
import { AgentRightsTab } from "./rights-tab.tsx";
import { TryTab } from "./try-tab.tsx";

type SidePaneProps = {
  /** The review of the file, to compare with. */
  before: AgentReview | null;
  onJump: ((line: number) => void) | null;
};

/** What comes of the text as it stands: rights, a tried call, delegations, problems, the difference to the file. */
export function SidePane({ before, onJump }: SidePaneProps) {
  const review = useSignal(useAgentDraft().review);
  const remarks = review ? review.problems.length + review.concerns.length + review.refusals.length : 0;
  const delegates = <Count of={review?.delegatesTo.length ?? 0} />;
  const tabs = [
    { value: "rights", label: "Rights", content: <AgentRightsTab before={before} /> },
    { value: "try", label: "Try a call", content: <TryTab /> },
    { value: "delegation", label: "Delegation", badge: delegates, content: <DelegationTab /> },
    {
      value: "problems",
      label: "Problems",
      badge: <Count of={remarks} />,
      content: <ProblemsTab onJump={onJump} />,
    },
    { value: "diff", label: "Diff", content: <DiffTab /> },
  ];
  const [side, setSide] = useChoice("side", tabs, "rights");
  return <PaneTabs label="Outcome" value={side} onChange={setSide} tabs={tabs} />;
}

function Count({ of: count }: { of: number }) {
  if (count === 0) return null;
  return <span className="figures rounded-full bg-raised px-1.5 text-2xs text-ink-2">{count}</span>;
}

const ORDER: readonly Problem["severity"][] = ["error", "warning", "info"];

/** Everything that is wrong or odd about the text, worst first, each with its remedy and its line. */
function ProblemsTab({ onJump }: { onJump: ((line: number) => void) | null }) {
  const review = useSignal(useAgentDraft().review);
  if (!review) return <Loading rows={3} label="Looking for problems" />;
  const { refusals, concerns, problems } = review;
  if (refusals.length + concerns.length + problems.length === 0) {
    return <Empty icon={CircleCheck} title="No problems" />;
  }
  const remarks = [
    ...refusals.map((text) => ({ icon: CircleX, tone: "text-bad", word: "Cannot be saved", text })),
    ...concerns.map((text) => ({ icon: ShieldAlert, tone: "text-warn", word: "Concern", text })),
  ];
  const sorted = problems.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  return (
    <ul className="grid gap-2.5 p-4">
      {remarks.map(({ icon: Icon, tone, word, text }) => (
        <li key={text} className="flex gap-2 text-xs">
          <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} />
          <p className="min-w-0 wrap-anywhere">
            <span className={join("font-medium", tone)}>{word}</span> {text}
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

/** Against the file as it is on disk. */
function DiffTab() {
  const review = useSignal(useAgentDraft().review);
  if (!review) return <Loading rows={3} label="Comparing" />;
  if (review.diff === "") return <Empty icon={FileCheck} title="No changes to the file" />;
  return (
    <div className="grid grid-cols-1 gap-2 p-3">
      <p className="text-xs text-ink-3">
        Lines with − are only in the file, lines with + are only in your text.
      </p>
      <DiffView patch={review.diff} label="Difference to the file" />
      {review.kept.length > 0 && (
        <p className="text-xs text-ink-2">
          Keys that Retinue does not know stay in the file:{" "}
          <span className="font-mono">{review.kept.join(", ")}</span>
        </p>
      )}
    </div>
  );
}
