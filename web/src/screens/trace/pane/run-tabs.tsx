import { Tabs } from "@base-ui/react/tabs";
import type { ComponentType } from "react";
import type { RunDetail } from "../../../../../src/schema/api/inspect.ts";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { REACHABLE } from "../../../ui/reachable.ts";
import { Failed, Loading } from "../../../ui/states.tsx";
import { TABS, type Tab } from "../use-trace-address.ts";
import { FilesTab } from "./files-tab.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { RawTab } from "./raw-tab.tsx";
import { ResultTab } from "./result-tab.tsx";
import { RightsTab } from "./rights-tab.tsx";
import { Nothing } from "./section.tsx";
import { ToolsTab } from "./tools-tab.tsx";
import { useRunDetail } from "./use-run-detail.ts";

/** What every tab is given. */
export type TabProps = { run: TraceRun; detail: RunDetail; onOpen: (runId: string) => void };

const PARTS: Readonly<Record<Tab, { name: string; part: ComponentType<TabProps> }>> = {
  prompt: { name: "Prompt", part: PromptTab },
  result: { name: "Result", part: ResultTab },
  tools: { name: "Tools", part: ToolsTab },
  files: { name: "Files", part: FilesTab },
  permissions: { name: "Permissions", part: RightsTab },
  raw: { name: "Raw", part: RawTab },
};

/** The parts of what is known of a run. */
export function RunTabs({
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
