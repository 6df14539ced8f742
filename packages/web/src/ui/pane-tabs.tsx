import { Tabs } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { REACHABLE } from "./class-names.ts";

type PaneTab<Value> = { value: Value; label: string; badge?: ReactNode; content: ReactNode };

type PaneTabsProps<Value extends string> = {
  label: string;
  tabs: readonly PaneTab<Value>[];
  value: Value;
  onChange: (value: Value) => void;
  /** Stands at the end of the line of tabs. */
  aside?: ReactNode;
};

/** Panes of which one is shown. Only that one is drawn. */
export function PaneTabs<Value extends string>({
  label,
  tabs,
  value,
  onChange,
  aside,
}: PaneTabsProps<Value>) {
  return (
    <Tabs.Root value={value} onValueChange={onChange} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex shrink-0 items-center gap-2 border-b border-line bg-panel px-3">
        <Tabs.List aria-label={label} className="flex min-w-0 gap-0.5 overflow-x-auto py-1">
          {tabs.map((tab) => (
            <Tabs.Tab
              key={tab.value}
              value={tab.value}
              className="flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2 text-sm text-ink-2 hover:bg-hover data-active:bg-hover data-active:font-medium data-active:text-ink"
            >
              {tab.label}
              {tab.badge}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {aside && <div className="ml-auto shrink-0">{aside}</div>}
      </div>
      {tabs.map((tab) => (
        <Tabs.Panel
          key={tab.value}
          value={tab.value}
          {...REACHABLE}
          className="relative min-h-0 flex-1 overflow-auto focus-visible:-outline-offset-2"
        >
          {tab.content}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
