import type { Terminal } from "../terminal.ts";

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A signal that asks the program to stop. */
type StopSignal = keyof typeof CODES;

/** Signals during a run. */
export type StopSignals = {
  /** The exit code of the signal that came, if one did. */
  readonly exitCode: number | undefined;
  /** The program ends, and not its work. */
  readonly isLeft: boolean;
  /** What to do at the first signal; at once if it has come already. */
  onStop(stop: (signal: StopSignal) => void): void;
  release(): void;
};

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * The first signal asks everything to stop, the second leaves at once. SIGINT is a person who wants an end; SIGTERM and SIGHUP
 * end the program and not its work, which is left to be resumed.
 */
export function catchSignals(terminal: Terminal): StopSignals {
  let came: StopSignal | undefined;
  let stop: ((signal: StopSignal) => void) | undefined;
  const caught = (name: NodeJS.Signals): void => {
    const signal = SIGNALS.find((one) => one === name) ?? "SIGINT";
    if (came !== undefined) process.exit(CODES[signal]);
    came = signal;
    terminal.tell("stopping; once more to leave at once");
    stop?.(signal);
  };
  for (const signal of SIGNALS) process.on(signal, caught);
  return {
    get exitCode() {
      return came && CODES[came];
    },
    get isLeft() {
      return came !== undefined && came !== "SIGINT";
    },
    onStop(work) {
      stop = work;
      if (came !== undefined) work(came);
    },
    release() {
      for (const signal of SIGNALS) process.off(signal, caught);
    },
  };
}
