import type { Clock } from "./clock.ts";

/** Something that is done again and again while it is switched on. */
export type Repeated = { set(isOn: boolean): void };

/** Creates it, switched off. What it throws ends nothing: it is done again the next time. */
export function repeat(clock: Clock, everyMs: number, act: () => void): Repeated {
  let stop: (() => void) | null = null;
  const arm = (): void => {
    stop = clock.timer(everyMs, () => {
      arm();
      try {
        act();
      } catch {
        // The record may be busy for a moment.
      }
    });
  };
  return {
    set(isOn) {
      if (isOn === (stop !== null)) return;
      stop?.();
      stop = null;
      if (isOn) arm();
    },
  };
}
