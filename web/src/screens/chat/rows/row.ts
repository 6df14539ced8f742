/** How the runs of a group stand. */
export type GroupCounts = { failed: number; live: number; stopped: number; done: number };

/** One line of the conversation. Its key never changes, whatever moves around it. */
export type Row = { key: string; level: number } & (
  | { kind: "person"; runId: string }
  | {
      kind: "run";
      runId: string;
      /** How many runs stand beside it, and which of them it is. */
      setSize: number;
      position: number;
      isOpen: boolean;
      hasBody: boolean;
    }
  | { kind: "body"; runId: string }
  | ({ kind: "group"; parentId: string; size: number; isOpen: boolean } & GroupCounts)
  | { kind: "approval"; approvalId: string }
  | { kind: "said"; text: string }
  | { kind: "notice"; message: string; tone: "info" | "warning" | "error" }
  | { kind: "answer"; runId: string }
);

/** Whether two rows look the same. */
export function isSameRow(one: Row, other: Row): boolean {
  const entries = Object.entries(one);
  const others: Readonly<Record<string, unknown>> = other;
  return (
    entries.length === Object.keys(other).length && entries.every(([name, value]) => others[name] === value)
  );
}

/** The key of a run's row. */
export function runKey(runId: string): string {
  return `run:${runId}`;
}

/** The key of the bar that stands for all runs a run has delegated to. */
export function groupKey(parentId: string): string {
  return `group:${parentId}`;
}
