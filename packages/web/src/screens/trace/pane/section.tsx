import type { RunDetail, RunDiff } from "@retinue/core/schema/api/inspect";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../../data/client.ts";
import { join, REACHABLE } from "../../../ui/class-names.ts";
import { VisibleText } from "../../../ui/text/visible-text-block.tsx";

/** A part of a tab with its heading. */
export function PaneSection({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
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

/** A text as it is, in which nothing can hide; a long one scrolls by itself. */
export function TextBlock({ label, text, tall = false }: { label: string; text: string; tall?: boolean }) {
  return (
    <figure
      aria-label={label}
      {...REACHABLE}
      className={join(
        "overflow-auto rounded-md border border-line bg-raised",
        tall ? "max-h-[60vh]" : "max-h-80",
      )}
    >
      <pre className="p-2.5 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere text-ink">
        <VisibleText text={text} />
      </pre>
    </figure>
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

/** Everything about a run; read again once it has ended. */
export function useRunDetail({ runId, closedSeq }: TraceRun) {
  return useQuery({
    queryKey: ["run", runId, closedSeq],
    queryFn: () => api.get<RunDetail>(`/api/runs/${runId}`),
    placeholderData: keepPreviousData,
  });
}

/** What a run and everything below it changed. */
export function useRunDiff({ runId, closedSeq }: TraceRun) {
  return useQuery({
    queryKey: ["run", runId, closedSeq, "diff"],
    queryFn: () => api.get<RunDiff>(`/api/runs/${runId}/diff`),
  });
}

/** What every tab is given. */
export type TabProps = { run: TraceRun; detail: RunDetail; onOpen: (runId: string) => void };
