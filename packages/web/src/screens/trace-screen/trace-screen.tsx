import type { Trace } from "@retinue/core/schema/inspect/trace";
import { showCount } from "@retinue/core/show/measures";
import { CircleX, GitBranch, Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useRef } from "react";
import { useParams } from "wouter";
import { useSignal } from "../../live/signal.ts";
import { SessionScope, useSession } from "../../live/use-session.tsx";
import { join } from "../../ui/class-names.ts";
import { Button, KeyHint, Segmented, TextLink, TipButton } from "../../ui/controls.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import { LanesView } from "./lanes-view.tsx";
import { RunPane } from "./pane/run-pane.tsx";
import { PlayheadBar, PlayheadToggle } from "./playhead/playhead-bar.tsx";
import { PlayheadScope, useIsPast, usePlayhead } from "./playhead/playhead-scope.tsx";
import { TraceHead } from "./trace-head.tsx";
import { TreeView } from "./tree-view.tsx";
import { useLook, VIEWS } from "./use-look.ts";
import { type TraceIndex, useTrace } from "./use-trace.ts";

/** One session as a tree of runs, drawn along time. */
export default function TraceScreen() {
  const { session = "" } = useParams<{ session: string }>();
  return (
    <SessionScope sessionId={session} isPatient>
      <TracePage key={session} />
    </SessionScope>
  );
}

/** The trace of the surrounding session: loading, failed, empty or drawn. */
function TracePage() {
  const loaded = useTrace();
  const { query, trace } = loaded;
  if (trace)
    return (
      <PlayheadScope trace={trace} timeline={loaded.timeline}>
        <Drawn {...loaded} trace={trace} />
      </PlayheadScope>
    );
  return (
    <>
      <ScreenHead title="Trace" />
      <Loaded
        query={query}
        rows={12}
        label="Loading the trace"
        instead={<TextLink href="/runs">All runs</TextLink>}
      >
        {() => null}
      </Loaded>
    </>
  );
}

function Drawn(loaded: ReturnType<typeof useTrace> & { trace: Trace }) {
  const { trace, index, nowMs } = loaded;
  const { at, isPlaying, timeline, goTo } = usePlayhead();
  const isReplayed = useIsPast();
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
          <TextLink href={`/chat/${sessionId}`}>Open the chat</TextLink>
        </Empty>
      </>
    );
  return (
    <>
      <TraceHead trace={trace} />
      <TraceBar look={look} index={index} />
      {isReplayed && <PlayheadBar isLive={trace.session.state === "running"} />}
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
            onOpen={look.open}
            onClose={look.close}
          />
        )}
      </div>
    </>
  );
}

/** When the pane closes, the focus goes back to the run it was about, so that a person at the keyboard can continue. */
function useBackToRun(openId: string | null): void {
  const before = useRef(openId);
  useEffect(() => {
    const { current: left } = before;
    before.current = openId;
    if (left === null || openId !== null || document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>(`[data-run="${CSS.escape(left)}"]`)?.focus({ preventScroll: true });
  }, [openId]);
}

function TraceBar({ look, index }: { look: ReturnType<typeof useLook>; index: TraceIndex }) {
  const { failures } = index;
  const isNarrow = useNarrow();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-1.5 border-b border-line bg-panel px-4 py-1.5">
      <Segmented label="View" value={look.view} choices={VIEWS} onChange={look.showView} />
      <SearchBox
        label="Filter runs by agent or text"
        does="Filter runs"
        around="min-w-24 flex-1 sm:max-w-64 sm:min-w-36"
        value={look.filter}
        onChange={look.setFilter}
      />
      {failures.length > 0 && (
        <Button kind="danger" onClick={look.failure}>
          <CircleX aria-hidden className="size-3.5" />
          {isNarrow
            ? failures.length
            : failures.length === 1
              ? "Go to the failure"
              : `First of ${showCount(failures.length, "failure")}`}
          {isNarrow ? <span className="sr-only"> failures, go to the first</span> : <KeyHint keys="f" />}
        </Button>
      )}
      <PlayheadToggle />
      {(!isNarrow || look.view === "lanes") && (
        <div className="ml-auto flex items-center gap-0.5">
          <span className="figures mr-1 text-2xs text-ink-3">
            {look.zoom > 1 && `${look.zoom.toFixed(1)}×`}
          </span>
          <TipButton words="Farther (-)" onClick={look.zoomOut} disabled={look.zoom <= 1} icon={ZoomOut} />
          <TipButton words="Closer (+)" onClick={look.zoomIn} icon={ZoomIn} />
          <TipButton
            words="Fit everything (0)"
            onClick={look.fit}
            disabled={look.zoom <= 1}
            icon={Maximize2}
          />
        </div>
      )}
    </div>
  );
}
