import type { RetinueEvent } from "@retinue/core/schema/event";
import type { Screen, Terminal } from "../terminal.ts";
import { createPaint, hasColour, hasUnicode } from "../tree/canvas.ts";
import { drawTree } from "../tree/draw-tree.ts";
import { createRunTree } from "../tree/run-tree.ts";
import { createRegion } from "./region.ts";
import { createStage } from "./stage.ts";

const MAX_SUMMARY = 8;

/** The tree of runs at the bottom of a terminal, while they run. */
export type LiveView = {
  take(event: RetinueEvent): void;
  /** Writes for good: above the tree, or while somebody else has the terminal, after that. */
  tell(text: string): void;
  /** Leaves the terminal to `work` and comes back after it. */
  aside<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Replaces the tree by what its sub-agents came to, and gives the terminal back. */
  close(): void;
};

/** Opens the view; nothing is drawn before the first run begins. */
export function openLiveView(terminal: Terminal, screen: Screen): LiveView {
  const { env, stdin } = terminal;
  const look = { unicode: hasUnicode(env), paint: createPaint(hasColour(env)) };
  const tree = createRunTree();
  const region = createRegion(screen);
  const held: string[] = [];
  let version = 0;
  let isClosed = false;

  function draw(): void {
    if (!stage.isOurs) return;
    const { columns, rows } = screen.size();
    const size = { width: columns - 1, height: heightFor(rows) };
    region.draw(drawTree(tree, { ...look, ...size, nowMs: Date.now() }).map((row) => row.text));
  }
  function tellHeld(): void {
    for (const text of held.splice(0)) region.above(text);
  }
  const pace = createPace(draw);
  const stage = createStage({
    stdin,
    leave: () => region.clear(),
    enter() {
      tellHeld();
      draw();
    },
    abandon: () => region.abandon(),
  });
  const stopListening = screen.onResize(draw);

  function summary(): string[] {
    return tree.roots.flatMap((root) => {
      const height = root.below.runs > MAX_SUMMARY ? MAX_SUMMARY + 1 : MAX_SUMMARY;
      const drawing = { ...look, width: screen.size().columns - 1, height, nowMs: Date.now() };
      const isOpen = () => false;
      return drawTree(tree, { ...drawing, isOpen, below: root }).map((row) => row.text);
    });
  }
  return {
    take(event) {
      tree.take(event);
      if (tree.version === version) return;
      version = tree.version;
      stage.open();
      pace.request();
    },
    tell(text) {
      if (stage.isOurs) region.above(text);
      else if (version === 0) terminal.tell(text);
      else held.push(text);
    },
    aside: (work) => stage.aside(work),
    close() {
      if (isClosed) return;
      isClosed = true;
      stopListening();
      pace.stop();
      stage.close();
      for (const text of [...held.splice(0), ...summary()]) terminal.tell(text);
    },
  };
}

/** Two thirds of the screen, so that what was said before stays in sight. */
function heightFor(rows: number): number {
  return Math.max(1, Math.min(rows - 1, Math.floor((rows * 2) / 3)));
}

const FRAME_MS = 80;
const TICK_MS = 1_000;

/**
 * Draws when it is asked to, not more often than an eye can follow, and once a second for the clocks. It keeps no process alive.
 */
function createPace(draw: () => void) {
  let lastMs = 0;
  let next: NodeJS.Timeout | undefined;
  const drawNow = (): void => {
    next = undefined;
    lastMs = performance.now();
    draw();
  };
  const tick = setInterval(drawNow, TICK_MS).unref();
  return {
    request(): void {
      next ??= setTimeout(drawNow, Math.max(0, lastMs + FRAME_MS - performance.now())).unref();
    },
    stop(): void {
      clearInterval(tick);
      clearTimeout(next);
    },
  };
}
