const FRAME_MS = 80;
const TICK_MS = 1_000;

/** Draws when it is asked to, not more often than an eye can follow, and once a second for the clocks. */
export type Pace = { request(): void; stop(): void };

/** Creates the pace. It keeps no process alive. */
export function createPace(draw: () => void): Pace {
  let lastMs = 0;
  let next: NodeJS.Timeout | undefined;
  const drawNow = (): void => {
    next = undefined;
    lastMs = performance.now();
    draw();
  };
  const tick = setInterval(drawNow, TICK_MS).unref();
  return {
    request() {
      next ??= setTimeout(drawNow, Math.max(0, lastMs + FRAME_MS - performance.now())).unref();
    },
    stop() {
      clearInterval(tick);
      clearTimeout(next);
    },
  };
}
