import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useState } from "react";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { Button } from "../../../ui/button.tsx";
import { AgentName } from "../../../ui/face.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { NOT_BEGUN } from "../replay/course/standing-at.ts";
import { useRunThen, useUntil } from "../replay/use-until.ts";
import { Splitter } from "../splitter.tsx";
import type { TraceIndex } from "../trace-index.ts";
import { useStanding } from "../use-standing.ts";
import type { Tab } from "../use-trace-address.ts";
import { Overview } from "./overview.tsx";
import { RunTabs } from "./run-tabs.tsx";

const KEY = "retinue.trace.pane";
const LEAST_PX = 320;
const MOST_PX = 1_000;

/** What the pane is given. */
export type RunPaneProps = {
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
  const standing = useStanding(run);
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
