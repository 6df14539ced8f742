import { Tabs } from "@base-ui/react/tabs";
import { type ReactNode, useCallback } from "react";
import { useSearchParams } from "wouter";

/** One of several panes in one place. */
type PaneTab = { value: string; label: string; badge?: ReactNode; content: ReactNode };

/** Panes of which one is shown. Only that one is drawn. */
export function PaneTabs({
  label,
  tabs,
  value,
  onChange,
  aside,
}: {
  label: string;
  tabs: readonly PaneTab[];
  value: string;
  onChange: (value: string) => void;
  /** Stands at the end of the line of tabs. */
  aside?: ReactNode;
}) {
  return (
    <Tabs.Root
      value={value}
      onValueChange={(chosen) => onChange(String(chosen))}
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
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
          className="relative min-h-0 flex-1 overflow-auto focus-visible:-outline-offset-2"
        >
          {tab.content}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

/** One word of the page's address and what changes it; an empty one is taken out of it. */
export function useParam(name: string): [value: string, set: (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          if (value) next.set(name, value);
          else next.delete(name);
          return next;
        },
        { replace: true },
      ),
    [name, setParams],
  );
  return [params.get(name) ?? "", set];
}
