import { Dialog } from "@base-ui/react/dialog";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { describeContext, describeEnd } from "@retinue/core/show/standing";
import { ChevronRight, ShieldAlert, X } from "lucide-react";
import { type ComponentType, Fragment, type ReactNode, useState } from "react";
import { useFace, useRunDetail } from "../../../data/queries.ts";
import { Button } from "../../../ui/controls.tsx";
import { AgentName } from "../../../ui/face.tsx";
import { PaneTabs } from "../../../ui/pane-tabs.tsx";
import { Loaded } from "../../../ui/states.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { useChoice } from "../../../ui/use-address.ts";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { useRunThen, useStandingThen, useUntil } from "../playhead/playhead-scope.tsx";
import { NOT_BEGUN } from "../playhead/run-at.ts";
import { Splitter } from "../splitter.tsx";
import { showSpan } from "../time-axis.ts";
import { chainAbove, type TraceIndex } from "../use-trace.ts";
import { Nothing, type TabProps } from "./section.tsx";
import { FilesTab, PromptTab, RawTab, ResultTab, RunRightsTab } from "./tabs.tsx";
import { ToolsTab } from "./tools-tab.tsx";

const KEY = "retinue.trace.pane";
const LEAST_PX = 320;
const MOST_PX = 1_000;

type RunPaneProps = {
  run: TraceRun;
  index: TraceIndex;
  nowMs: number;
  onOpen: (runId: string) => void;
  onClose: () => void;
};

/** Everything about one run: beside the drawing, or over it where there is no room. */
export function RunPane(props: RunPaneProps) {
  const isNarrow = useNarrow();
  const [width, setWidth] = useState(() => Number(localStorage.getItem(KEY)) || 500);
  const resize = (wanted: number) => {
    setWidth(wanted);
    localStorage.setItem(KEY, String(wanted));
  };
  if (isNarrow)
    return (
      <Dialog.Root open onOpenChange={(isOpen) => !isOpen && props.onClose()}>
        <Dialog.Portal>
          <Dialog.Popup
            aria-label={`Run of ${props.run.agent}`}
            className="fixed inset-0 z-40 flex animate-arrive flex-col bg-panel pb-[env(safe-area-inset-bottom)]"
          >
            <PaneContent {...props} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    );
  return (
    <>
      <Splitter
        label="Width of the pane"
        width={width}
        least={LEAST_PX}
        most={MOST_PX}
        isRight
        onChange={resize}
        className="z-30 -mr-2"
      />
      <aside
        aria-label={`Run of ${props.run.agent}`}
        className="flex max-w-[62%] min-w-0 shrink-0 flex-col border-l border-line bg-panel"
        style={{ width }}
      >
        <PaneContent {...props} />
      </aside>
    </>
  );
}

function PaneContent({ run, index, nowMs, onOpen, onClose }: RunPaneProps) {
  const standing = useStandingThen(run);
  const then = useRunThen(run);
  const untilMs = useUntil(run, nowMs);
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line px-4">
        <h2 className="min-w-0 text-sm">
          <AgentName name={run.agent} />
        </h2>
        <StatusBadge standing={standing} />
        <Button kind="quiet" small aria-label="Close the run" className="ml-auto" onClick={onClose}>
          <X className="size-4" />
        </Button>
      </div>
      <Overview run={then} index={index} nowMs={untilMs} onOpen={onOpen} />
      <RunTabs run={then} hasBegun={standing !== NOT_BEGUN} onOpen={onOpen} />
    </>
  );
}

const TABS = [
  { value: "prompt", label: "Prompt", part: PromptTab },
  { value: "result", label: "Result", part: ResultTab },
  { value: "tools", label: "Tools", part: ToolsTab },
  { value: "files", label: "Files", part: FilesTab },
  { value: "permissions", label: "Permissions", part: RunRightsTab },
  { value: "raw", label: "Raw", part: RawTab },
] as const;

type RunTabsProps = Pick<RunPaneProps, "run" | "onOpen"> & { hasBegun: boolean };

function RunTabs(props: RunTabsProps) {
  const [tab, setTab] = useChoice("tab", TABS, "result");
  const tabs = TABS.map(({ part, ...one }) => ({ ...one, content: <RunTab part={part} {...props} /> }));
  return <PaneTabs label="About the run" value={tab} onChange={setTab} tabs={tabs} />;
}

function RunTab({ part: Part, run, hasBegun, onOpen }: RunTabsProps & { part: ComponentType<TabProps> }) {
  const query = useRunDetail(run);
  if (!hasBegun)
    return (
      <div className="p-4">
        <Nothing>It had not begun at this moment.</Nothing>
      </div>
    );
  return (
    <Loaded query={query} rows={5} label="Loading the run">
      {(detail) => (
        <div className="grid gap-4 p-4">
          <Part run={run} detail={detail} onOpen={onOpen} />
        </div>
      )}
    </Loaded>
  );
}

type OverviewProps = { run: TraceRun; index: TraceIndex; nowMs: number; onOpen: (runId: string) => void };

/** A run in one look: where it stands in the tree, how it went, what it took. */
function Overview({ run, index, nowMs, onOpen }: OverviewProps) {
  const { tokens, costUsd, iterations, maxIterations, children, context } = run;
  const given = describeContext(context.mode);
  return (
    <div className="grid gap-2 border-b border-line px-4 py-3">
      <Chain run={run} index={index} onOpen={onOpen} />
      <p className="line-clamp-3 text-sm wrap-anywhere text-ink" title={run.task}>
        {run.task}
      </p>
      <dl className="figures flex flex-wrap gap-x-4 gap-y-1 text-xs">
        <Fact name="Time">{showSpan(run.durationMs ?? Math.max(0, nowMs - run.startMs))}</Fact>
        <Fact name="Turns">{maxIterations === null ? iterations : `${iterations} of ${maxIterations}`}</Fact>
        <Fact name="Tokens">
          {showShort(tokens.self)}
          {children.length > 0 && ` (${showShort(tokens.subtree)} with all below)`}
        </Fact>
        <Fact name="Cost">
          {showCost(costUsd.self)}
          {children.length > 0 && ` (${showCost(costUsd.subtree)} with all below)`}
        </Fact>
        {run.model && <Fact name="Model">{run.model}</Fact>}
        {given && <Fact name="Was given">{given}</Fact>}
        {run.attempt > 0 && <Fact name="Attempt">{run.attempt + 1}</Fact>}
        {run.parallel && <Fact name="Ran">beside others</Fact>}
        {(run.partial || run.status === "timeout") && <Fact name="Ended">{describeEnd(run)}</Fact>}
      </dl>
      {run.tainted && (
        <p className="flex items-center gap-1.5 text-xs text-warn">
          <ShieldAlert aria-hidden className="size-3.5 shrink-0" /> Text from outside has entered this run.
        </p>
      )}
      {run.error && (
        <p className="rounded-md bg-bad-soft px-2.5 py-1.5 text-xs wrap-anywhere text-bad">{run.error}</p>
      )}
    </div>
  );
}

type ChainProps = { run: TraceRun; index: TraceIndex; onOpen: (runId: string) => void };

function Chain({ run, index, onOpen }: ChainProps) {
  const chain = chainAbove(index, run);
  const { displayName } = useFace(run.agent);
  if (chain.length === 0) return null;
  return (
    <nav aria-label="Delegated by" className="flex flex-wrap items-center gap-x-1 text-xs text-ink-3">
      {chain.map((above) => (
        <Fragment key={above.runId}>
          <ChainLink run={above} onOpen={onOpen} />
          <ChevronRight aria-hidden className="size-3" />
        </Fragment>
      ))}
      <span className="text-ink-2">{displayName}</span>
    </nav>
  );
}

function ChainLink({ run, onOpen }: { run: TraceRun; onOpen: (runId: string) => void }) {
  const { displayName } = useFace(run.agent);
  return (
    <button
      type="button"
      title={run.task}
      onClick={() => onOpen(run.runId)}
      className="rounded text-accent underline-offset-2 hover:underline"
    >
      {displayName}
    </button>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1">
      <dt className="text-ink-3">{name}</dt>
      <dd className="text-ink-2">{children}</dd>
    </div>
  );
}
