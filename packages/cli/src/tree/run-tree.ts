import type { RetinueEvent } from "@retinue/core/schema/event";
import { isFailed, isLive, LiveNode, type RunNode, type Sums } from "./run-node.ts";

/** The runs of some sessions, as their events tell of them. Takes events in any order and never throws. */
export type RunTree = {
  take(event: RetinueEvent): void;
  /** Runs without a known parent, in the order they began. */
  readonly roots: readonly RunNode[];
  node(runId: string): RunNode | undefined;
  /** Grows with every change that can be seen. */
  readonly version: number;
};

const MAX_NODES = 2_000;

type Started = Extract<RetinueEvent, { type: "run.started" }>;

/** Creates an empty tree. Of more than `maxNodes` runs those are let go that ended first, successes before failures. */
export function createRunTree({ maxNodes = MAX_NODES }: { maxNodes?: number } = {}): RunTree {
  const nodes = new Map<string, LiveNode>();
  const roots: LiveNode[] = [];
  const ended = { well: new Set<LiveNode>(), badly: new Set<LiveNode>() };
  let version = 0;

  function start(event: Started): void {
    const known = nodes.get(event.runId);
    if (known) change(known, () => known.begin(event));
    else if (nodes.size < maxNodes || letOneGo()) add(event);
  }

  function add(event: Started): void {
    const node = new LiveNode(event);
    nodes.set(node.runId, node);
    place(node);
    for (const root of roots.filter((each) => each.parentRunId === node.runId && each !== node)) {
      if (above(node).has(root)) continue;
      roots.splice(roots.indexOf(root), 1);
      place(root);
    }
  }

  function place(node: LiveNode): void {
    const parent = node.parentRunId === node.runId ? undefined : nodes.get(node.parentRunId ?? "");
    if (!parent || above(parent).has(node)) {
      roots.push(node);
      return;
    }
    node.parent = parent;
    parent.children.push(node);
    for (const each of above(node)) if (each !== node) book(each.below, node.sums, 1);
  }

  /** Changes a node and what all above it know of it. */
  function change(node: LiveNode, act: () => void): void {
    const before = node.sums;
    act();
    const after = node.sums;
    for (const each of above(node)) {
      if (each === node) continue;
      book(each.below, before, -1);
      book(each.below, after, 1);
    }
    ended.well.delete(node);
    ended.badly.delete(node);
    if (!isLive(node)) (isFailed(node) ? ended.badly : ended.well).add(node);
  }

  /** Forgets one run that has ended, with those below it; what is above keeps counting them. */
  function letOneGo(): boolean {
    for (const set of [ended.well, ended.badly]) {
      for (const node of set) {
        if (node.below.live > 0) continue;
        const siblings = node.parent?.children ?? roots;
        siblings.splice(siblings.indexOf(node), 1);
        forget(node);
        return true;
      }
    }
    return false;
  }

  function forget(node: LiveNode): void {
    nodes.delete(node.runId);
    ended.well.delete(node);
    ended.badly.delete(node);
    for (const child of node.children) forget(child);
  }

  return {
    take(event) {
      if (event.type === "run.started") start(event);
      else {
        const node = "runId" in event ? nodes.get(event.runId ?? "") : undefined;
        if (!node || !apply(node, event, change)) return;
      }
      version++;
    },
    roots,
    node: (runId) => nodes.get(runId),
    get version() {
      return version;
    },
  };
}

/** Puts an event into its node; false if nothing to be seen has changed. */
function apply(
  node: LiveNode,
  event: RetinueEvent,
  change: (node: LiveNode, act: () => void) => void,
): boolean {
  if (event.type === "run.ended") {
    change(node, () => node.end(event.result, event.atMs));
    return true;
  }
  if (!isLive(node)) return false;
  switch (event.type) {
    case "run.waiting":
      node.wait(event.on);
      return true;
    case "phase.entered":
      node.phase = event.phase;
      return true;
    case "turn.started":
      node.turns++;
      node.activity = "thinking";
      return true;
    case "reasoning.streamed":
      return setActivity(node, "thinking");
    case "text.streamed":
      return setActivity(node, "writing");
    case "turn.ended":
      node.activity = null;
      change(node, () => node.spend(event));
      return true;
    case "call.started":
      node.openCall(event.callId, event.tool, event.input);
      return true;
    case "call.progressed":
      node.progressCall(event.callId, event.message);
      return true;
    case "call.ended":
      node.closeCall(event.callId);
      return true;
    default:
      return false;
  }
}

function setActivity(node: LiveNode, activity: RunNode["activity"]): boolean {
  if (node.activity === activity) return false;
  node.activity = activity;
  return true;
}

/** The node and all above it, nearest first. */
function above(node: LiveNode): Set<LiveNode> {
  const found = new Set<LiveNode>();
  for (let each: LiveNode | null = node; each && !found.has(each); each = each.parent) found.add(each);
  return found;
}

function book(to: Sums, sums: Sums, sign: 1 | -1): void {
  to.runs += sign * sums.runs;
  to.live += sign * sums.live;
  to.failed += sign * sums.failed;
  to.tokens += sign * sums.tokens;
  to.usd += sign * sums.usd;
  to.unpriced += sign * sums.unpriced;
}
