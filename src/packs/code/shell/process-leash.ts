import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { type FirstProcess, firstProcess, killInside } from "../sandbox/sandbox-end.ts";

/** How a program is ended together with everything it started. */
export type ProcessLeash = {
  /** The first process of a sandbox, once it is known. */
  readonly first: FirstProcess | undefined;
  /** The same, when it becomes known; never, if it does not. */
  readonly known: Promise<FirstProcess>;
  kill(): void;
  /** Ends its timers. */
  release(): void;
};

/** So long bubblewrap may take to say what it has made; it does so before anything inside begins. */
const SETUP_MS = 2_000;

/** For a program on the host that leads a group of processes. */
export function leashGroup({ pid }: ChildProcess): ProcessLeash {
  return {
    first: undefined,
    known: new Promise(() => {}),
    kill() {
      try {
        if (pid) process.kill(-pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    },
    release() {},
  };
}

/**
 * For bubblewrap, which says in file 4 what it has made. What is inside ends with bubblewrap only once it is set up: if
 * bubblewrap alone were killed before that, the command would go on with nobody to end it.
 */
export function leashSandbox(bubblewrap: ChildProcess): ProcessLeash {
  let info = "";
  let first: FirstProcess | undefined;
  const { promise: known, resolve: makeKnown } = Promise.withResolvers<FirstProcess>();
  let isKilled = false;
  let late: NodeJS.Timeout | undefined;
  const end = () => {
    killInside(first);
    bubblewrap.kill("SIGKILL");
  };
  (bubblewrap.stdio[4] as Readable | null)?.on("data", (chunk: Buffer) => {
    info += String(chunk);
    first ??= firstProcess(info);
    if (first) makeKnown(first);
    if (isKilled && first) end();
  });
  bubblewrap.once("exit", () => killInside(first));
  return {
    known,
    get first() {
      return first;
    },
    kill() {
      isKilled = true;
      if (first) end();
      else late ??= setTimeout(end, SETUP_MS);
    },
    release: () => clearTimeout(late),
  };
}
