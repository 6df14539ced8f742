import { LONGEST_TIMER_MS } from "../../budget/clock.ts";

/** Fires when a model call shows no sign of life. */
export type Watchdog = { readonly fired: "first_token" | "idle" | null; sawPart(): void; stop(): void };

/** Watches one call: the time to its first part, then the gap between parts. A zero switches that watch off. */
export function startWatchdog(firstTokenMs: number, idleMs: number, bite: () => void): Watchdog {
  let fired: "first_token" | "idle" | null = null;
  let waitingForFirst = true;
  let timer: NodeJS.Timeout | undefined;
  const arm = (delayMs: number) => {
    timer = delayMs > 0 ? setTimeout(onTime, Math.min(delayMs, LONGEST_TIMER_MS)) : undefined;
  };
  const onTime = () => {
    fired = waitingForFirst ? "first_token" : "idle";
    bite();
  };
  arm(firstTokenMs);
  return {
    get fired() {
      return fired;
    },
    sawPart() {
      if (!waitingForFirst) {
        timer?.refresh();
        return;
      }
      waitingForFirst = false;
      clearTimeout(timer);
      arm(idleMs);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
