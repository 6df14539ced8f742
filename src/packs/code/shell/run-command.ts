import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isBelow } from "../../../files/is-below.ts";
import { LONGEST_TIMER_MS } from "../../../scheduler/clock.ts";
import { RetinueError } from "../../../schema/error.ts";
import type { ShellSettings } from "../../../schema/settings.ts";
import type { HostPlaces } from "../../../tools/tool.ts";
import { type Bubblewrap, findBubblewrap } from "../sandbox/find-bubblewrap.ts";

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
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Some of the output was left out. */
  truncated: boolean;
  timedOut: boolean;
  sandbox: "bubblewrap" | "just-bash" | "host";
  /** What a reader of the result should know: limits that do not hold here, why it was stopped. */
  notes: readonly string[];
};

/** Runs commands in the strongest enclosure that this machine and the settings give. Never more than asked for. */
export type CommandRunner = {
  readonly sandbox: CommandOutcome["sandbox"];
  run(request: CommandRequest): Promise<CommandOutcome>;
};

/** What a runner must know of the machine; by default, what the process itself knows. */
export type CommandHost = Partial<HostPlaces> & {
  /** The sandbox program; looked for by default. Null: as if there were none. */
  bubblewrap?: string | null;
};

/** What the ways to run a command get: settings and places without gaps. */
export type Enclosure = { settings: ShellSettings; places: HostPlaces };

const HINT =
  "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap) " +
  "and let users make namespaces, or set shell.sandbox in your own settings";

/** Finds out, once per process, what encloses commands here. Throws if the settings demand more than there is. */
export async function createCommandRunner(
  settings: ShellSettings,
  host: CommandHost = {},
): Promise<CommandRunner> {
  const enclosure: Enclosure = { settings, places: placesOf(host) };
  if (settings.sandbox === "off") {
    const { runOnHost } = await import("./run-on-host.ts");
    return runner("host", settings, (request) => runOnHost(request, enclosure));
  }
  const found: Bubblewrap | { fault: string } = await findBubblewrap(host.bubblewrap);
  if (!("fault" in found)) {
    const { runInBubblewrap } = await import("../sandbox/run-in-bubblewrap.ts");
    return runner("bubblewrap", settings, (request) => runInBubblewrap(request, enclosure, found));
  }
  if (settings.sandbox === "required")
    throw new RetinueError(
      "config",
      `commands need the sandbox, and there is none here: ${found.fault}`,
      HINT,
    );
  const { runInJustBash } = await import("./run-in-just-bash.ts");
  return runner("just-bash", settings, (request) => runInJustBash(request, enclosure));
}

function runner(
  sandbox: CommandRunner["sandbox"],
  settings: ShellSettings,
  run: CommandRunner["run"],
): CommandRunner {
  return {
    sandbox,
    run: async (request) => {
      const checked = await checkRequest(request);
      if (request.signal.aborted) return stopped(sandbox);
      const timeoutMs = Math.max(1, Math.min(request.timeoutMs, settings.seconds * 1_000, LONGEST_TIMER_MS));
      return run({ ...checked, timeoutMs, network: settings.network && request.network === true });
    },
  };
}

/** Canonical folders, so that every later comparison of paths means what it says. */
async function checkRequest(request: CommandRequest): Promise<CommandRequest> {
  const { script, argv } = request;
  if ((script === undefined) === (argv === undefined) || argv?.length === 0)
    throw new TypeError("a command is either a script or an argv");
  if ([script ?? "", ...(argv ?? [])].some((text) => text.includes("\0")))
    throw new TypeError("a command must not contain a NUL character");
  const [projectDir, workspaceDir, cwd] = await Promise.all(
    [request.projectDir, request.workspaceDir, request.cwd].map((path) => realpath(path)),
  );
  if (!projectDir || !workspaceDir || !cwd) throw new TypeError("a folder is missing");
  if (!isBelow(cwd, projectDir) && !isBelow(cwd, workspaceDir))
    throw new TypeError("the working folder is outside the project and the workspace");
  if (!(await stat(cwd)).isDirectory()) throw new TypeError("the working folder is not a folder");
  return { ...request, projectDir, workspaceDir, cwd };
}

function stopped(sandbox: CommandOutcome["sandbox"]): CommandOutcome {
  return {
    exitCode: null,
    signal: "SIGKILL",
    stdout: "",
    stderr: "",
    truncated: false,
    timedOut: false,
    sandbox,
    notes: ["it was stopped before it began"],
  };
}

function placesOf({ env = process.env, homeDir = homedir(), dataDir, configDir }: CommandHost): HostPlaces {
  return {
    env,
    homeDir,
    dataDir: dataDir ?? join(homeDir, ".local", "share", "retinue"),
    configDir: configDir ?? join(homeDir, ".config", "retinue"),
  };
}
