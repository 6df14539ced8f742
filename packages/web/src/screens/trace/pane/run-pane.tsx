import { Dialog } from "@base-ui/react/dialog";
import { Tabs } from "@base-ui/react/tabs";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { X } from "lucide-react";
import { type ComponentType, useState } from "react";
import { REACHABLE } from "../../../ui/class-names.ts";
import { Button } from "../../../ui/controls.tsx";
import { AgentName } from "../../../ui/face.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { useRunThen, useUntil } from "../playhead/playhead-scope.tsx";
import { NOT_BEGUN } from "../playhead/run-at.ts";
import { Splitter } from "../splitter.tsx";
import type { TraceIndex } from "../trace-index.ts";
import { TABS, type Tab } from "../use-look.ts";
import { useStandingThen } from "../use-standing.ts";
import { FilesTab } from "./files-tab.tsx";
import { Overview } from "./overview.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { RawTab, ResultTab } from "./result-tab.tsx";
import { RunRightsTab } from "./rights-tab.tsx";
import { Nothing, type TabProps, useRunDetail } from "./section.tsx";
import { ToolsTab } from "./tools-tab.tsx";

const KEY = "retinue.trace.pane";
const LEAST_PX = 320;
const MOST_PX = 1_000;

/** What the pane is given. */
type RunPaneProps = {
  run: TraceRun;
  index: TraceIndex;
  nowMs: number;
  tab: Tab;
  onTab: (tab: Tab) => void;
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

function PaneContent({ run, index, nowMs, tab, onTab, onOpen, onClose }: RunPaneProps) {
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
      <RunTabs run={then} hasBegun={standing !== NOT_BEGUN} tab={tab} onTab={onTab} onOpen={onOpen} />
    </>
  );
}

const PARTS: Readonly<Record<Tab, { name: string; part: ComponentType<TabProps> }>> = {
  prompt: { name: "Prompt", part: PromptTab },
  result: { name: "Result", part: ResultTab },
  tools: { name: "Tools", part: ToolsTab },
  files: { name: "Files", part: FilesTab },
  permissions: { name: "Permissions", part: RunRightsTab },
  raw: { name: "Raw", part: RawTab },
};

/** The parts of what is known of a run. */
function RunTabs({
  run,
  hasBegun,
  tab,
  onTab,
  onOpen,
}: {
  run: TraceRun;
  hasBegun: boolean;
  tab: Tab;
  onTab: (tab: Tab) => void;
  onOpen: (runId: string) => void;
}) {
  const { data: detail, isError, error, refetch } = useRunDetail(run);
  const { part: Part } = PARTS[tab];
  return (
    <Tabs.Root
      value={tab}
      onValueChange={(value: Tab) => onTab(value)}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label="About the run"
        className="flex shrink-0 overflow-x-auto border-b border-line px-2"
      >
        {TABS.map((name) => (
          <Tabs.Tab
            key={name}
            value={name}
            className="h-9 shrink-0 border-b-2 border-transparent px-2 text-sm text-ink-2 -outline-offset-2 hover:text-ink data-[active]:border-accent data-[active]:font-medium data-[active]:text-ink"
          >
            {PARTS[name].name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} {...REACHABLE} className="min-h-0 flex-1 overflow-auto -outline-offset-2">
        {!hasBegun ? (
          <div className="p-4">
            <Nothing>It had not begun at this moment.</Nothing>
          </div>
        ) : detail ? (
          <div className="grid gap-4 p-4">
            <Part run={run} detail={detail} onOpen={onOpen} />
          </div>
        ) : isError ? (
          <Failed failure={error} onRetry={() => void refetch()} />
        ) : (
          <Loading rows={5} label="Loading the run" />
        )}
      </Tabs.Panel>
    </Tabs.Root>
  );
}
