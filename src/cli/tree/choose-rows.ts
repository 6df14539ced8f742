import { isFailed, isLive, type RunNode } from "./run-node.ts";

/** Which runs get a line of their own, and how those stand that do not. */
export type Choice = { readonly shown: ReadonlySet<RunNode>; readonly hidden: Hidden };

/** Runs without a line. */
export type Hidden = { running: number; waiting: number; failed: number; completed: number };

/** Whether the runs below a run are shown. */
export type IsOpen = (node: RunNode) => boolean;

/** Where a run stands among those that can be shown. */
type Place = { node: RunNode; parent: Place | null };

/**
 * Chooses at most `height` lines, one of them for the rest if not all fit. First come who waits for a person, failures and
 * what runs, each with all above it; then what ended, the latest first.
 */
export function chooseRows(
  { roots, below }: { roots: readonly RunNode[]; below?: RunNode | undefined },
  height: number,
  isOpen: IsOpen,
): Choice {
  const all = placesOf(below?.children ?? roots, null, isOpen);
  const open = all.map(({ node }) => node).filter(isOpen);
  const lost = countLost(below ? [below, ...open] : open);
  if (height <= 0) return { shown: new Set(), hidden: NONE };
  if (all.length <= height && total(lost) === 0)
    return { shown: new Set(all.map(({ node }) => node)), hidden: lost };
  const shown = new Set<RunNode>();
  const room = Math.max(1, height - 1);
  for (const place of byImportance(all, room)) {
    if (shown.size >= room) break;
    const missing = withAbove(place).filter((node) => !shown.has(node));
    if (shown.size + missing.length <= room) for (const node of missing) shown.add(node);
  }
  const hidden = { ...lost };
  for (const { node } of all) if (!shown.has(node)) count(node, isOpen(node), hidden);
  return { shown, hidden };
}

const NONE: Hidden = { running: 0, waiting: 0, failed: 0, completed: 0 };

/** How many runs have no line. */
export function total({ running, waiting, failed, completed }: Hidden): number {
  return running + waiting + failed + completed;
}

function placesOf(nodes: readonly RunNode[], parent: Place | null, isOpen: IsOpen): Place[] {
  return nodes.flatMap((node) => {
    const place = { node, parent };
    return isOpen(node) ? [place, ...placesOf(node.children, place, isOpen)] : [place];
  });
}

function byImportance(all: readonly Place[], room: number): Place[] {
  const newest = (some: Place[]) => some.sort((a, b) => (b.node.endedAtMs ?? 0) - (a.node.endedAtMs ?? 0));
  const asking = all.filter(({ node }) => node.waitingOn === "approval");
  const failed = newest(all.filter(({ node }) => isFailed(node)));
  const live = all.filter(({ node }) => isLive(node));
  const ended = newest(all.filter(({ node }) => !isLive(node) && !isFailed(node)));
  const most = Math.ceil(room / 3);
  return [...asking, ...failed.slice(0, most), ...live, ...failed.slice(most), ...ended];
}

function withAbove(place: Place): RunNode[] {
  const found: RunNode[] = [];
  for (let each: Place | null = place; each; each = each.parent) found.unshift(each.node);
  return found;
}

/** Runs that the tree itself no longer holds. */
function countLost(open: readonly RunNode[]): Hidden {
  const lost = { ...NONE };
  for (const node of open) {
    const held = { runs: 0, failed: 0 };
    for (const child of node.children) {
      held.runs += 1 + child.below.runs;
      held.failed += (isFailed(child) ? 1 : 0) + child.below.failed;
    }
    const failed = node.below.failed - held.failed;
    lost.failed += failed;
    lost.completed += node.below.runs - held.runs - failed;
  }
  return lost;
}

/** Counts a run, and if its children are not counted for themselves, everything below it. */
function count(node: RunNode, open: boolean, hidden: Hidden): void {
  if (isFailed(node)) hidden.failed++;
  else if (node.status === "waiting") hidden.waiting++;
  else if (isLive(node)) hidden.running++;
  else hidden.completed++;
  if (open) return;
  const { runs, live, failed } = node.below;
  hidden.running += live;
  hidden.failed += failed;
  hidden.completed += runs - live - failed;
}
