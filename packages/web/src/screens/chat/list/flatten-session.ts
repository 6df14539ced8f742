import type { RunView } from "@retinue/core/schema/api/session";
import { hasFailed } from "@retinue/core/show/standing";
import type { Notice } from "../../../live/session-store.ts";
import type { Asks, Said } from "../chat-view.ts";

/** What a conversation is made from. */
export type Conversation = {
  roots: readonly string[];
  run(runId: string): RunView | undefined;
  children(runId: string): readonly string[];
  /** What the person opened and closed, by key. */
  opened: ReadonlyMap<string, boolean>;
  /** How it was, while the person reads and nothing may fold away or change places. */
  held: Held | null;
  asks: Asks;
  said: readonly Said[];
  notices: readonly Notice[];
};

/** What was open, and the order of the runs behind each bar. */
export type Held = { open: ReadonlySet<string>; orders: ReadonlyMap<string, readonly string[]> };

/** More siblings than this stand behind one bar. */
export const MOST_SIBLINGS = 5;

/** Runs that stand side by side; many of them are shown as lines until one is opened. */
type Family = { ids: readonly string[]; level: number; isCrowd: boolean };

/** The session as lines from top to bottom: what was asked, who works on it, what came of it. */
export function flattenSession(from: Conversation): { rows: ChatRow[]; held: Held } {
  const rows: ChatRow[] = [];
  const open = new Set<string>();
  const orders = new Map<string, readonly string[]>();
  const last = from.roots.at(-1);

  function isOpen(key: string, byDefault: boolean): boolean {
    const is = from.opened.get(key) ?? (byDefault || from.held?.open.has(key) === true);
    if (is) open.add(key);
    return is;
  }

  function addAsks(runId: string, level: number): void {
    for (const { approvalId } of from.asks.get(runId) ?? [])
      rows.push({ kind: "approval", key: `ask:${approvalId}`, approvalId, level });
  }

  /** What waits for a person is shown, however much above it is closed. */
  function addAsksBelow(ids: readonly string[], level: number): void {
    if (from.asks.size === 0) return;
    for (const id of ids) {
      addAsks(id, level);
      addAsksBelow(from.children(id), level);
    }
  }

  function addRun(runId: string, { ids, level, isCrowd }: Family, position: number): void {
    const run = from.run(runId);
    if (!run) return;
    const key = runKey(runId);
    const isRoot = run.parentRunId === null;
    const children = from.children(runId);
    const isLiving = isLive(run) && (!isCrowd || children.length > 0);
    const opened = isOpen(key, isRoot || isLiving || hasFailed(run));
    const hasBody = opened && (!isRoot || run.iterations > 0 || isLive(run));
    rows.push({ kind: "run", key, runId, level, setSize: ids.length, position, isOpen: opened, hasBody });
    if (hasBody) rows.push({ kind: "body", key: `body:${runId}`, runId, level });
    addAsks(runId, level + 1);
    if (opened) addFamily(runId, children, level + 1);
    else addAsksBelow(children, level + 1);
  }

  function addFamily(parentId: string, ids: readonly string[], level: number): void {
    if (ids.length <= MOST_SIBLINGS) {
      ids.forEach((id, index) => {
        addRun(id, { ids, level, isCrowd: false }, index + 1);
      });
      return;
    }
    const key = groupKey(parentId);
    const { sorted, counts } = sortSiblings(ids, from, from.held?.orders.get(key));
    orders.set(key, sorted);
    const opened = isOpen(key, counts.live > 0);
    rows.push({ kind: "group", key, parentId, level, size: ids.length, isOpen: opened, ...counts });
    if (!opened) {
      addAsksBelow(ids, level + 1);
      return;
    }
    const below = { ids: sorted, level: level + 1, isCrowd: true };
    sorted.forEach((id, index) => {
      addRun(id, below, index + 1);
    });
  }

  from.roots.forEach((runId, index) => {
    rows.push({ kind: "person", key: `person:${runId}`, runId, level: 1 });
    addRun(runId, { ids: from.roots, level: 1, isCrowd: false }, index + 1);
    for (const { id, text, runId: to } of from.said)
      if (to === runId) rows.push({ kind: "said", key: `said:${id}`, text, level: 1 });
    if (runId === last)
      for (const { id, level: tone, message } of from.notices)
        rows.push({ kind: "notice", key: `notice:${id}`, message, tone, level: 1 });
    rows.push({ kind: "answer", key: `answer:${runId}`, runId, level: 1 });
  });
  return { rows, held: { open, orders } };
}

/** Failures first, then what is at work, then the rest, each in the order they began; or as it was, what is new last. */
function sortSiblings(ids: readonly string[], from: Conversation, before: readonly string[] | undefined) {
  const bins = { failed: [], live: [], rest: [] } as Record<"failed" | "live" | "rest", string[]>;
  const counts: GroupCounts = { failed: 0, live: 0, stopped: 0, done: 0 };
  for (const id of ids) {
    const run = from.run(id);
    if (!run) continue;
    const kind = hasFailed(run)
      ? "failed"
      : isLive(run)
        ? "live"
        : run.status === "cancelled"
          ? "stopped"
          : "done";
    counts[kind]++;
    bins[kind === "stopped" || kind === "done" ? "rest" : kind].push(id);
  }
  if (!before) return { sorted: [...bins.failed, ...bins.live, ...bins.rest], counts };
  const known = new Set(before);
  return { sorted: [...before, ...ids.filter((id) => !known.has(id))], counts };
}

function isLive(run: RunView): boolean {
  return run.endedAtMs === null;
}

/** How the runs of a group stand. */
export type GroupCounts = { failed: number; live: number; stopped: number; done: number };

/** One line of the conversation. Its key never changes, whatever moves around it. */
export type ChatRow = { key: string; level: number } & (
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
  | { kind: "notice"; message: string; tone: Notice["level"] }
  | { kind: "answer"; runId: string }
);

/** Whether two rows look the same. */
export function isSameRow(one: ChatRow, other: ChatRow): boolean {
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
