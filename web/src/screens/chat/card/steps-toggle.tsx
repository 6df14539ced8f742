import { ChevronRight } from "lucide-react";
import { useSelected } from "../../../live/use-selected.ts";
import { join } from "../../../ui/join.ts";
import { countOf } from "../../../ui/measures.ts";
import { useChatView } from "../chat-view.ts";
import { runKey } from "../rows/row.ts";
import { useRun } from "./use-run.ts";

/** Whether the turns and calls of a run are shown: if the person wants it, or opened the card by hand. */
export function useAreStepsOpen(runId: string): boolean {
  const view = useChatView();
  const chosen = useSelected(view.details, (details) => details.get(runId));
  const isCardChosen = useSelected(view.opened, (opened) => opened.get(runKey(runId)) === true);
  const isRoot = useRun(runId).parentRunId === null;
  return chosen ?? (isCardChosen && !isRoot);
}

/** Shows or hides the turns and calls of a run. */
export function StepsToggle({ runId }: { runId: string }) {
  const view = useChatView();
  const { endedAtMs, iterations } = useRun(runId);
  const isOpen = useAreStepsOpen(runId);
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => view.detail(runId, !isOpen)}
      className="-ml-1 inline-flex min-h-6 w-fit shrink-0 items-center gap-1 rounded px-1 text-xs text-ink-3 hover:bg-hover hover:text-ink"
    >
      <ChevronRight
        aria-hidden
        className={join("size-3 transition-transform duration-100", isOpen && "rotate-90")}
      />
      {endedAtMs === null ? "What it does" : `What it did in ${countOf(iterations, "turn")}`}
    </button>
  );
}
