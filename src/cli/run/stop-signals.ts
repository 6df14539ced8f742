import type { Terminal } from "../terminal.ts";

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Signals while a run goes on. */
export type StopSignals = {
  /** The exit code of the signal that came, if one did. */
  readonly exitCode: number | undefined;
  /** What to do at the first signal; at once if it has come already. */
  onStop(stop: () => void): void;
  release(): void;
};

/** The first signal asks everything to stop and settle, the second leaves at once. */
export function catchSignals(terminal: Terminal): StopSignals {
  let exitCode: number | undefined;
  let stop: (() => void) | undefined;
  const caught = (signal: NodeJS.Signals): void => {
    const code = signal === "SIGTERM" ? CODES.SIGTERM : CODES.SIGINT;
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
    terminal.tell("stopping; once more to leave at once");
    stop?.();
  };
  process.on("SIGINT", caught).on("SIGTERM", caught);
  return {
    get exitCode() {
      return exitCode;
    },
    onStop(work) {
      stop = work;
      if (exitCode !== undefined) work();
    },
    release: () => process.off("SIGINT", caught).off("SIGTERM", caught),
  };
}
