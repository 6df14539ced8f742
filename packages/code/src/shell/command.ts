import { existsSync } from "node:fs";
import type { ShellSettings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";

/** One command and all it may touch. */
export type CommandRequest = {
  /** A script for a shell; or else `argv`. */
  script?: string;
  /** Program and arguments that no shell reads. */
  argv?: readonly string[];
  /** Below the project or the workspace. */
  cwd: string;
  projectDir: string;
  workspaceDir: string;
  /** Absolute folders or files below the two that may be written; everything else is read-only. */
  writable: readonly string[];
  /** Absolute paths below writable ones that are read-only all the same. */
  readOnly?: readonly string[];
  /** Absolute paths outside the two folders that may also be read. */
  readable?: readonly string[];
  /** Absolute paths that must not be readable. */
  hidden?: readonly string[];
  /** Variables besides the usual few. */
  env?: Readonly<Record<string, string>>;
  /** Only effective where the settings allow the network, too. */
  network?: boolean;
  timeoutMs: number;
  /** What is kept of each output stream; of more, the beginning and the end. */
  maxOutputBytes?: number;
  onOutput?(chunk: string): void;
  signal: AbortSignal;
};

/** What came of a command. */
export type CommandOutcome = {
  /** Null if it was stopped from outside. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** What a reader of the result should know: limits that do not hold here, why it was stopped. */
  notes: readonly string[];
};

/** Runs commands in the strongest enclosure that this machine and the settings give. Never more than asked for. */
export type CommandRunner = (request: CommandRequest) => Promise<CommandOutcome>;

/** What a runner must know of the machine; by default, what the process itself knows. */
export type CommandHost = Partial<HostPlaces> & {
  /** The sandbox program; looked for by default. Null: as if there were none. */
  bubblewrap?: string | null;
};

/** What the ways to run a command get: settings and places without gaps. */
export type Enclosure = { settings: ShellSettings; places: HostPlaces };

/** All that a command sees of the environment: the usual few, what the settings name, and what the request adds. */
export function buildEnvironment(
  { settings, places }: Enclosure,
  request: Pick<CommandRequest, "env">,
  given: { PATH: string; HOME: string },
): Record<string, string> {
  const named = settings.env.flatMap((name) => {
    const value = places.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { LANG = "C.UTF-8" } = places.env;
  return {
    ...given,
    LANG,
    TERM: "dumb",
    TMPDIR: "/tmp",
    CI: "1",
    ...Object.fromEntries(named),
    ...request.env,
  };
}

/** Says that the sandbox is ready, and waits until the command may begin; it never does if nobody is there to say so. */
const WAIT_AT_GATE = "echo ready >&5; read -r go <&5 || exit 125; ";
/** Closes what the process that runs Retinue was itself given open, then becomes the command. */
const CLOSE_FILES =
  'for f in /proc/self/fd/*; do f=${f##*/}; if ((f > 2)); then exec {f}>&-; fi; done; exec "$@"';
const CLOSE_FEW_FILES = 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$@"';

/** Goes before what runs in a sandbox: waits to be let in, and keeps no open files but the usual three. */
export function enterSandbox(): readonly string[] {
  return existsSync("/bin/bash")
    ? ["/bin/bash", "-c", WAIT_AT_GATE + CLOSE_FILES, "bash"]
    : ["/bin/sh", "-c", WAIT_AT_GATE + CLOSE_FEW_FILES, "sh"];
}

/** A program that does not exist is an exit code of a shell. */
export function wrapInShell(argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv];
}

/** The program and arguments of a request. */
export function buildArgv({ script, argv = [] }: Pick<CommandRequest, "script" | "argv">): readonly string[] {
  if (script === undefined) return argv;
  return [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", "-c", script];
}
