import { GitBranch } from "lucide-react";
import { Link } from "wouter";
import type { Trace } from "../../../../src/schema/inspect/trace.ts";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { join } from "../../ui/join.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { LanesView } from "./lanes/lanes-view.tsx";
import { RunPane } from "./pane/run-pane.tsx";
import { ReplayBar } from "./replay/replay-bar.tsx";
import { ReplayScope, useIsReplayed, useReplay } from "./replay/replay-scope.tsx";
import { TraceBar } from "./trace-bar.tsx";
import { TraceHead } from "./trace-head.tsx";
import { TreeView } from "./tree/tree-view.tsx";
import { useBackToRun } from "./use-back-to-run.ts";
import { useLook } from "./use-look.ts";
import { useTrace } from "./use-trace.ts";

/** The trace of the surrounding session: loading, failed, empty or drawn. */
export function TracePage() {
  const loaded = useTrace();
  const { query, trace } = loaded;
  if (trace)
    return (
      <ReplayScope trace={trace} timeline={loaded.timeline}>
        <Drawn {...loaded} trace={trace} />
      </ReplayScope>
    );
  return (
    <>
      <ScreenHead title="Trace" />
      {query.isError ? (
        <Failed failure={query.error} onRetry={() => void query.refetch()}>
          <Link href="/runs" className="text-accent underline underline-offset-2">
            All runs
          </Link>
        </Failed>
      ) : (
        <Loading rows={12} label="Loading the trace" />
      )}
    </>
  );
}

function Drawn(loaded: ReturnType<typeof useTrace> & { trace: Trace }) {
  const { trace, index, nowMs } = loaded;
  const { at, isPlaying, timeline, goTo } = useReplay();
  const isReplayed = useIsReplayed();
  const isMoving = useSignal(isPlaying) || !isReplayed;
  const look = useLook(index, ({ endMs }) => {
    // A failure that lies ahead is gone to in time as well.
    if (at.value !== null && endMs !== null && at.value < endMs) goTo(endMs);
  });
  useBackToRun(look.openId);
  const { sessionId } = useSession();
  const View = look.view === "lanes" ? LanesView : TreeView;
  const open = index.byId.get(look.openId ?? "");
  if (trace.runs.length === 0)
    return (
      <>
        <TraceHead trace={trace} />
        <Empty icon={GitBranch} title="Nothing has run yet">
          <Link href={`/chat/${sessionId}`} className="text-accent underline underline-offset-2">
            Open the chat
          </Link>
        </Empty>
      </>
    );
  return (
    <>
      <TraceHead trace={trace} />
      <TraceBar look={look} index={index} />
      {isReplayed && <ReplayBar isLive={trace.session.state === "running"} />}
      <div
        className={join(
          "flex min-h-0 flex-1",
          !isMoving && "motion-safe:[&_.animate-spin]:[animation-play-state:paused]",
        )}
      >
        <View
          trace={trace}
          index={index}
          timeline={timeline}
          nowMs={nowMs}
          zoom={look.zoom}
          filter={look.filter}
          cursorId={look.cursorId}
          openId={look.openId}
          onCursor={look.moveTo}
          onOpen={look.open}
        />
        {open && (
          <RunPane
            key={open.runId}
            run={open}
            index={index}
            nowMs={nowMs}
            tab={look.tab}
            onTab={look.showTab}
            onOpen={look.open}
            onClose={look.close}
          />
        )}
      </div>
    </>
  );
}
