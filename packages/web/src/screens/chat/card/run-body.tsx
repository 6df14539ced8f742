import type { StepView } from "@retinue/core/schema/api/session";
import { showCount, showSpacedDuration } from "@retinue/core/show/measures";
import { describeEnd, nameStatus } from "@retinue/core/show/standing";
import { useState } from "react";
import { useRunDetail } from "../../../data/queries.ts";
import { useSelected, useSignal, useThrottled } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { Button, Chevron } from "../../../ui/controls.tsx";
import { Cell } from "../../../ui/grid.tsx";
import { Markdown } from "../../../ui/rich-text/markdown.tsx";
import { Failed } from "../../../ui/states.tsx";
import { StepLine } from "../../../ui/step-line.tsx";
import { useChatView } from "../chat-view.ts";
import { runKey } from "../list/flatten-session.ts";
import { readLiveText, takeTail } from "./run-activity.tsx";
import { FOR_GOOD, useRun } from "./use-run.ts";

const EVERY_MS = 120;
const TAIL_CHARS = 2_000;
const SUMMARY_CHARS = 480;

/** What is in an opened card: the task, what is being said or what came of it, and what was done. */
export function RunBody({ runId, isRoot }: { runId: string; isRoot: boolean }) {
  if (isRoot)
    return (
      <Cell className="pb-2 pl-7 max-sm:pl-2">
        <Done runId={runId} isRoot />
      </Cell>
    );
  return (
    <Cell className="pb-1.5">
      <div className="grid grid-cols-1 gap-1.5 rounded-b-lg border border-t-0 border-line bg-panel pr-3 pb-2 pl-8.5 max-sm:pl-3">
        <Words runId={runId} />
        <Done runId={runId} />
      </div>
    </Cell>
  );
}

function Words({ runId }: { runId: string }) {
  const run = useRun(runId);
  const isLive = run.endedAtMs === null;
  const isChosen = useSelected(useChatView().opened, (opened) => opened.get(runKey(runId)) === true);
  return (
    <>
      {(isChosen || !isLive) && run.task.length > 60 && (
        <p className="text-xs wrap-anywhere whitespace-pre-wrap text-ink-3">
          <span className="font-medium">Task:</span> {run.task}
          {run.task.length >= 300 && "…"}
        </p>
      )}
      {isLive ? <LiveWords runId={runId} /> : <EndWords runId={runId} />}
    </>
  );
}

/** The last lines of what streams; the end is what matters while it grows. */
function LiveWords({ runId }: { runId: string }) {
  const text = useThrottled(useSession().live(runId), readLiveText, EVERY_MS);
  if (!text) return null;
  return (
    <div className="flex max-h-24 flex-col-reverse overflow-hidden border-l-2 border-run pl-2.5">
      <Markdown text={takeTail(text, TAIL_CHARS)} live className="text-sm text-ink-2" />
    </div>
  );
}

function EndWords({ runId }: { runId: string }) {
  const run = useRun(runId);
  const [isWhole, setWhole] = useState(false);
  const { data, error, isFetching, refetch } = useRunDetail(run, { ...FOR_GOOD, enabled: isWhole });
  const isGood = nameStatus(run) === "completed";
  const summary = run.summary === run.status ? "" : (run.summary ?? "");
  const text = (isWhole && data?.text) || summary;
  return (
    <>
      {!isGood && (
        <p className="text-sm wrap-anywhere">
          <strong className="font-semibold">{describeEnd(run)}</strong>
          {run.error && run.error !== text && <span className="text-ink-2"> {run.error}</span>}
        </p>
      )}
      {text && <Markdown text={text} className="text-sm" />}
      {isWhole && error && <Failed failure={error} onRetry={() => void refetch()} />}
      {summary.length >= SUMMARY_CHARS && (
        <div>
          <Button kind="quiet" small className="-ml-1.5" onClick={() => setWhole(!isWhole)}>
            {isWhole ? (isFetching ? "Loading…" : "Show the summary") : "Show the whole answer"}
          </Button>
        </div>
      )}
    </>
  );
}

/** The list of turns and calls behind a line; it is loaded when it is opened. */
function Done({ runId, isRoot = false }: { runId: string; isRoot?: boolean }) {
  const run = useRun(runId);
  const isLive = run.endedAtMs === null;
  const isOpen = useAreStepsOpen(runId);
  const isBrief = useSelected(useChatView().details, (details) => isRoot && isLive && !details.has(runId));
  if (isBrief) return <RunSteps runId={runId} isBrief />;
  return (
    <>
      {(isRoot || !isLive) && <StepsToggle runId={runId} />}
      {isOpen && <RunSteps runId={runId} />}
    </>
  );
}

const BRIEF = 4;
const PAGE = 40;

/** Turns and calls of a run as compact lines, the latest last; `isBrief` shows only those of this moment. */
function RunSteps({ runId, isBrief = false }: { runId: string; isBrief?: boolean }) {
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
          <StepLine step={step} aside={step.durationMs === null ? "" : showSpacedDuration(step.durationMs)} />
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

/** Whether the turns and calls of a run are shown: if the person wants it, or opened the card by hand. */
function useAreStepsOpen(runId: string): boolean {
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
      <Chevron isOpen={isOpen} className="size-3" />
      {endedAtMs === null ? "What it does" : `What it did in ${showCount(iterations, "turn")}`}
    </button>
  );
}
