import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { tryTo } from "@retinue/core/schema/error";
import { type WatchedProcess, watchResources } from "../sandbox/resource-limits.ts";
import { type FirstProcess, killInside, readFirstProcess } from "../sandbox/sandbox-end.ts";
import type { CommandOutcome, CommandRequest } from "./command.ts";

/** Keeps the beginning and the end of a stream of bytes; what lies between is only counted. */
export class CollectOutput {
  readonly #head: Buffer[] = [];
  readonly #headMax: number;
  readonly #tailMax: number;
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** All bytes that came. */
  total = 0;

  constructor(maxBytes: number) {
    this.#headMax = Math.ceil(maxBytes / 2);
    this.#tailMax = Math.floor(maxBytes / 2);
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    const head = chunk.subarray(0, this.#headMax - this.#headBytes);
    if (head.length > 0) this.#head.push(Buffer.from(head));
    this.#headBytes += head.length;
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest));
    this.#tailBytes += rest.length;
    // Cut only now and then, so that the work grows with the output and not with its square.
    if (this.#tailBytes > 2 * this.#tailMax + 65_536) this.#cutTail();
  }

  /** The text without escape codes and control characters, with a line that counts what was left out. */
  text(): string {
    this.#cutTail();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const left = this.total - head.length - tail.length;
    if (left === 0) return cleanOutput(decode(Buffer.concat([head, tail])));
    return `${cleanOutput(decode(head))}\n[… ${left} bytes left out …]\n${cleanOutput(decode(tail))}`;
  }

  #cutTail(): void {
    if (this.#tailBytes <= this.#tailMax) return;
    const all = Buffer.concat(this.#tail);
    const kept = Buffer.from(all.subarray(all.length - this.#tailMax));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}

/** A character that a cut went through is dropped at both ends. */
function decode(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return new TextDecoder().decode(bytes.subarray(start), { stream: true });
}

const ESCAPES = new RegExp(
  [
    // Control sequences: colours, cursor.
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]",
    // Titles, links and other strings, if they end; else their text is shown.
    "\\u001b[\\]PX^_][^\\u0007\\u001b\\n]{0,4096}(?:\\u0007|\\u001b\\\\)",
    "\\u001b[ -/]{0,8}[0-~]",
  ].join("|"),
  "g",
);
/** Controls but for tab and newline, and the marks that turn the direction of text. */
const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Output of a program as plain lines: nothing in it moves a cursor, hides text or rings a bell. */
export function cleanOutput(text: string): string {
  return text
    .replace(ESCAPES, "")
    .replace(/\r+\n?/g, "\n")
    .replace(CONTROLS, "");
}

/** A program to run, with its limits. */
type ProcessRequest = Pick<CommandRequest, "timeoutMs" | "maxOutputBytes" | "onOutput" | "signal"> & {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /**
   * Open files that a sandbox gets, from `FIRST_FD` on; 3 is for `input3`, to 4 it writes what it has made, and at 5 the
   * command waits to be let in.
   */
  fds?: readonly number[];
  /** Called when a sandbox is ready, before the command begins. If it rejects, the command never does. */
  admit?(first: FirstProcess): Promise<void>;
  /** What a sandbox reads from file 3. */
  input3?: string;
  /** On the host: leads a group of processes that ends with it, and gets no files. */
  leadsGroup?: boolean;
  watch: Pick<WatchedProcess, "folders" | "limits" | "memory">;
};

/** How it ended; `stopped` says why if it was made to, `first` is the first process of a sandbox. */
type ProcessOutcome = Omit<CommandOutcome, "notes"> & {
  stopped?: string;
  first: FirstProcess | undefined;
  /** False if the sandbox was never ready. */
  begun: boolean;
};

/** The number of the first file besides input, output, errors, and the three that go to and from a sandbox. */
export const FIRST_FD = 6;

const PIPES = ["pipe", "pipe", "pipe"] as const;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** Output beyond this is no longer read, and its process is stopped. */
const HARD_OUTPUT_BYTES = 64 * 1024 * 1024;
/** How long output is still read after the end of a program whose output something that outlived it holds open. */
const LAST_OUTPUT_MS = 2_000;

/** Runs a program to its end, without input, and stops it with everything it started when its time is up. */
export function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  const { argv, env, cwd, fds = [], input3 = "", leadsGroup = false } = request;
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: leadsGroup,
    stdio: ["ignore", "pipe", "pipe", ...(leadsGroup ? [] : [...PIPES, ...fds])],
  });
  const leash = leadsGroup ? leashGroup(child) : leashSandbox(child);
  const input = child.stdio[3] as Writable | null | undefined;
  // A program that ends before it has read everything is no fault of ours.
  input?.on("error", () => {}).end(input3);

  let begun = leadsGroup;
  let refused: unknown;
  const gate = (child.stdio as readonly unknown[])[5] as Duplex | null | undefined;
  gate
    ?.on("error", () => {})
    .once("data", async () => {
      begun = true;
      try {
        await request.admit?.(await leash.known);
        gate.end("go\n");
      } catch (thrown) {
        refused = thrown;
        leash.kill();
      }
    });

  let stopped: string | undefined;
  let timedOut = false;
  let closing: NodeJS.Timeout | undefined;
  const stop = (reason: string) => {
    stopped ??= reason;
    leash.kill();
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop(`it was stopped after ${Math.round(request.timeoutMs / 100) / 10} s`);
  }, request.timeoutMs);
  const onAbort = () => stop("it was stopped from outside");
  request.signal.addEventListener("abort", onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  const unwatch = watchResources({ ...request.watch, pid: child.pid ?? 0, stop });
  const max = request.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const outputs = [child.stdout, child.stderr].map((stream) =>
    collect(stream, max, request.onOutput, () => stop(`it wrote more than ${HARD_OUTPUT_BYTES} bytes`)),
  );
  return new Promise<ProcessOutcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      // What a sandbox holds ends with it.
      if (!leadsGroup) return;
      leash.kill();
      closing = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, LAST_OUTPUT_MS);
    });
    child.once("close", (code) => {
      const [stdout, stderr] = outputs;
      if (refused) return reject(refused);
      resolve({
        begun,
        exitCode: stopped === undefined ? code : null,
        stdout: stdout?.text() ?? "",
        stderr: stderr?.text() ?? "",
        first: leash.first,
        timedOut,
        ...(stopped !== undefined && { stopped }),
      });
    });
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(closing);
    unwatch();
    request.signal.removeEventListener("abort", onAbort);
    leash.release();
    if (leadsGroup) leash.kill();
  });
}

function collect(
  stream: Readable | null,
  max: number,
  onOutput: CommandRequest["onOutput"],
  onFlood: () => void,
): CollectOutput {
  const output = new CollectOutput(max);
  const decoder = new TextDecoder();
  stream?.on("data", (chunk: Buffer) => {
    if (output.total > HARD_OUTPUT_BYTES) return onFlood();
    output.push(chunk);
    onOutput?.(cleanOutput(decoder.decode(chunk, { stream: true })));
  });
  return output;
}

/** How a program is ended together with everything it started. */
type ProcessLeash = {
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
function leashGroup({ pid }: ChildProcess): ProcessLeash {
  return {
    first: undefined,
    known: new Promise(() => {}),
    // It may have ended by itself.
    kill: () => tryTo(() => pid && process.kill(-pid, "SIGKILL")),
    release() {},
  };
}

/**
 * For bubblewrap, which says in file 4 what it has made. What is inside ends with bubblewrap only once it is set up: if
 * bubblewrap alone were killed before that, the command would continue with nobody to end it.
 */
function leashSandbox(bubblewrap: ChildProcess): ProcessLeash {
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
    first ??= readFirstProcess(info);
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
