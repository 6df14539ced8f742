import { isatty } from "node:tty";
import { writeJson } from "@retinue/core/text/plain-text";

/** A terminal on which lines can be drawn again and again. */
export type Screen = {
  size(): { columns: number; rows: number };
  /** Writes as it is: the only way for escape codes. */
  write(text: string): void;
  /** Tells when the size has changed; returns how to stop listening. */
  onResize(listener: () => void): () => void;
};

/** Where the program reads from and writes to. Nothing here but the screen ever writes an escape code. */
export type Terminal = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  /** A person can be asked: input and messages are both a terminal. */
  readonly interactive: boolean;
  /** Columns of the terminal that results go to; null if they go elsewhere. */
  readonly columns: number | null;
  /** Input and results are both of a terminal: there is a whole screen to draw on. */
  readonly hasScreen: boolean;
  /** What shows progress and questions, if it is a terminal that can move its cursor. */
  readonly screen?: Screen | undefined;
  /** Results, one line or several. */
  print(text: string): void;
  /** Progress, warnings and questions. */
  tell(text: string): void;
  /** A question, whose answer is typed on the same line. */
  prompt(text: string): void;
  /** Why results could not be written, such as a full disk. */
  readonly lost?: Error | undefined;
};

/** Options that every command has. */
export type CommonOptions = { cwd?: string; json?: boolean };

/** What a command works with: the terminal it is called at, and the options it is given. */
export type Cli<Options extends object = object> = Terminal & { readonly options: CommonOptions & Options };

/** The same command with other options. */
export function changeOptions<Options extends object, Others extends object>(
  cli: Cli<Options>,
  others: Others,
): Cli<Options & Others> {
  return { ...cli, options: { ...cli.options, ...others } };
}

/** Prints a result: as JSON for programs, or else as text for people. */
export function printResult(
  { options, print }: Pick<Cli, "options" | "print">,
  { value, text }: { value: unknown; text: () => string | readonly string[] },
): void {
  const shown = options.json ? writeJson(value, 2) : text();
  print(typeof shown === "string" ? shown : shown.join("\n"));
}

/** One invocation: where it reads and writes, and what it will answer with. */
export type Invocation = { readonly terminal: Terminal; exitCode: number };

/**
 * The terminal of a process. A reader that goes away is no error: what is written after it is dropped. Nor does a result that
 * cannot be written end what runs; `lost` says so at the end.
 */
export function createTerminal(
  host: Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "cwd">,
): Terminal {
  const { stdin, stdout, stderr, env } = host;
  let lost: Error | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") lost ??= error;
  });
  // There is nowhere left to report this.
  stderr.on("error", () => {});
  const writer = (stream: NodeJS.WriteStream) => (text: string) => {
    if (stream.writable) stream.write(`${text}\n`);
  };
  return {
    env,
    cwd: host.cwd(),
    stdin,
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    columns: stdout.isTTY === true ? stdout.columns || 80 : null,
    hasScreen: stdin.isTTY === true && stdout.isTTY === true,
    screen: stderr.isTTY === true && env.TERM !== "dumb" ? createScreen(stderr) : undefined,
    print: writer(stdout),
    tell: writer(stderr),
    prompt: (text) => void stderr.write(text),
    get lost() {
      return lost;
    },
  };
}

function createScreen(stream: NodeJS.WriteStream): Screen {
  return {
    // A terminal nobody told its size says 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    write(text) {
      if (stream.writable) stream.write(text);
    },
    onResize(listener) {
      stream.on("resize", listener);
      return () => stream.off("resize", listener);
    },
  };
}

/**
 * Whether the input was a terminal that is gone, as when its window is closed. The end of such an input says nothing: nobody
 * pressed Ctrl-D, and SIGHUP comes only after it.
 */
export function isTerminalGone({ isTTY, fd }: { isTTY?: boolean; fd?: number }): boolean {
  return isTTY === true && fd !== undefined && !isatty(fd);
}
