import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** Parts of the pane about a run. */
export const TABS = ["prompt", "result", "tools", "files", "permissions", "raw"] as const;
export type Tab = (typeof TABS)[number];

/** How the runs are drawn. */
export type View = "tree" | "lanes";

type Change = { run?: string | null; tab?: Tab; view?: View; q?: string; at?: string | null };

/** What is looked at, which lives in the address: the run, the part of it, the drawing, the filter and the moment. */
export function useTraceAddress() {
  const [params, setParams] = useSearchParams();
  const change = useCallback(
    (change: Change, { replace = true }: { replace?: boolean } = {}) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change)) {
            if (value === null || value === "" || value === "tree") after.delete(name);
            else after.set(name, value);
          }
          return after;
        },
        { replace },
      ),
    [setParams],
  );
  const tab = params.get("tab");
  const at = params.get("at");
  return {
    runId: params.get("run"),
    tab: TABS.find((one) => one === tab) ?? "result",
    view: params.get("view") === "lanes" ? ("lanes" as const) : ("tree" as const),
    filter: params.get("q") ?? "",
    /** Milliseconds from the start of the trace; null is now. */
    atMs: at !== null && /^\d{1,12}$/.test(at) ? Number(at) : null,
    change,
  };
}
