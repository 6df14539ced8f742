import { useState } from "react";
import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useThrottled } from "../../../live/use-throttled.ts";
import { Button } from "../../../ui/button.tsx";
import { Cell } from "../../../ui/grid.tsx";
import { Failed } from "../../../ui/states.tsx";
import { standingOf } from "../../../ui/status.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { useChatView } from "../chat-view.ts";
import { runKey } from "../rows/row.ts";
import { endInWords } from "./end-in-words.ts";
import { tailOf, textOf } from "./live-text.ts";
import { RunSteps } from "./run-steps.tsx";
import { StepsToggle, useAreStepsOpen } from "./steps-toggle.tsx";
import { useRun, useRunDetail } from "./use-run.ts";

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
  const text = useThrottled(useSession().live(runId), textOf, EVERY_MS);
  if (!text) return null;
  return (
    <div className="flex max-h-24 flex-col-reverse overflow-hidden border-l-2 border-run pl-2.5">
      <Markdown text={tailOf(text, TAIL_CHARS)} live className="text-sm text-ink-2" />
    </div>
  );
}

function EndWords({ runId }: { runId: string }) {
  const run = useRun(runId);
  const [isWhole, setWhole] = useState(false);
  const { data, error, isFetching, refetch } = useRunDetail(runId, isWhole, "ended");
  const isGood = standingOf(run) === "completed";
  const summary = run.summary === run.status ? "" : (run.summary ?? "");
  const text = (isWhole && data?.text) || summary;
  return (
    <>
      {!isGood && (
        <p className="text-sm wrap-anywhere">
          <strong className="font-semibold">{endInWords(run)}</strong>
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
