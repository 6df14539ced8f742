import type { AgentReview } from "../../../../../src/schema/api/agent.ts";
import { useSignal } from "../../../live/signal.ts";
import { PaneTabs } from "../controls/pane-tabs.tsx";
import { useParam } from "../controls/use-param.ts";
import { useDraft } from "../draft/use-draft.tsx";
import { DelegationTab } from "./delegation-tab.tsx";
import { DiffTab } from "./diff-tab.tsx";
import { ProblemsTab } from "./problems-tab.tsx";
import { RightsTab } from "./rights-tab.tsx";
import { TryTab } from "./try-tab.tsx";

const NAMES = ["rights", "try", "delegation", "problems", "diff"];

/** What comes of the text as it stands: rights, a tried call, delegations, problems, the difference to the file. */
export function SidePane({
  before,
  onJump,
}: {
  /** The review of the file, to compare with. */
  before: AgentReview | null;
  onJump: ((line: number) => void) | null;
}) {
  const [side, setSide] = useParam("side");
  const review = useSignal(useDraft().review);
  const remarks = review ? review.problems.length + review.concerns.length + review.refusals.length : 0;
  return (
    <PaneTabs
      label="What comes of it"
      value={NAMES.includes(side) ? side : "rights"}
      onChange={(value) => setSide(value === "rights" ? "" : value)}
      tabs={[
        { value: "rights", label: "Rights", content: <RightsTab before={before} /> },
        { value: "try", label: "Try a call", content: <TryTab /> },
        {
          value: "delegation",
          label: "Delegation",
          badge: <Count of={review?.delegatesTo.length ?? 0} />,
          content: <DelegationTab />,
        },
        {
          value: "problems",
          label: "Problems",
          badge: <Count of={remarks} />,
          content: <ProblemsTab onJump={onJump} />,
        },
        { value: "diff", label: "Diff", content: <DiffTab /> },
      ]}
    />
  );
}

function Count({ of: count }: { of: number }) {
  if (count === 0) return null;
  return <span className="figures rounded-full bg-raised px-1.5 text-2xs text-ink-2">{count}</span>;
}
