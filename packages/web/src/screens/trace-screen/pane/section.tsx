import type { RunDetail } from "@retinue/core/schema/api/inspect";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import type { ReactNode } from "react";

type PaneSectionProps = { title: string; aside?: ReactNode; children: ReactNode };

/** A part of a tab with its heading. */
export function PaneSection({ title, aside, children }: PaneSectionProps) {
  return (
    <section className="grid min-w-0 gap-1.5">
      <div className="flex min-h-6 items-center gap-2">
        <h3 className="text-xs font-semibold text-ink-2">{title}</h3>
        {aside && <div className="ml-auto flex items-center gap-1">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** Something that is not there, in a few words. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <p className="rounded-md border border-dashed border-line px-3 py-4 text-center text-sm text-ink-3">
      {children}
    </p>
  );
}

/** What every tab is given. */
export type TabProps = { run: TraceRun; detail: RunDetail; onOpen: (runId: string) => void };
