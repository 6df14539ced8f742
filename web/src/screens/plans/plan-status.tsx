import { BadgeCheck, CircleCheck, CircleX, LoaderCircle, PencilLine } from "lucide-react";
import type { ComponentType } from "react";
import type { PlanStatus as Status } from "../../../../src/schema/plan.ts";
import { join } from "../../ui/join.ts";

type Look = { word: string; tone: string; icon: ComponentType<{ className?: string }> };

const LOOKS: Readonly<Record<Status, Look>> = {
  draft: { word: "draft", tone: "text-off bg-off-soft", icon: PencilLine },
  approved: { word: "approved", tone: "text-accent bg-accent-soft", icon: BadgeCheck },
  running: { word: "running", tone: "text-run bg-run-soft", icon: LoaderCircle },
  completed: { word: "done", tone: "text-ok bg-ok-soft", icon: CircleCheck },
  failed: { word: "failed", tone: "text-bad bg-bad-soft", icon: CircleX },
};

/** How far a plan is, as icon and word. */
export function PlanStatus({ status }: { status: Status }) {
  const { word, tone, icon: Icon } = LOOKS[status];
  return (
    <span
      data-status={status}
      className={join(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-1.5 text-2xs font-medium whitespace-nowrap",
        tone,
      )}
    >
      <Icon
        aria-hidden
        className={join("size-3.5", status === "running" && "animate-spin [animation-duration:1.6s]")}
      />
      {word}
    </span>
  );
}
