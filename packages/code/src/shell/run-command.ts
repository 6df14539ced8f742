import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { LONGEST_TIMER_MS } from "@retinue/core/budget/clock";
import { isBelow } from "@retinue/core/files/is-below";
import { RetinueError } from "@retinue/core/schema/error";
import type { ShellSettings } from "@retinue/core/schema/settings";
import type { HostPlaces, ToolContext } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { type Bubblewrap, findBubblewrap } from "../sandbox/find-bubblewrap.ts";
import type { CommandOutcome, CommandRequest, CommandRunner, Enclosure } from "./command.ts";

/** What a runner must know of the machine; by default, what the process itself knows. */
export type CommandHost = Partial<HostPlaces> & {
  /** The sandbox program; looked for by default. Null: as if there were none. */
  bubblewrap?: string | null;
};

const INSTALL_HINT =
  "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap) " +
  "and let users make namespaces, or set shell.sandbox to off in your own settings: commands then have all your rights";
const ELSEWHERE_HINT =
  "run Retinue on Linux or in a container with bubblewrap (apt install bubblewrap), or set shell.sandbox to off in your own settings: " +
  "commands then have all your rights";

/** Finds out, once per process, what encloses commands here. Throws if there is no sandbox and the settings ask for one. */
export async function createCommandRunner(
  settings: ShellSettings,
  host: CommandHost = {},
): Promise<CommandRunner> {
  const enclosure: Enclosure = { settings, places: fillInPlaces(host) };
  if (settings.sandbox === "off") {
    const { runOnHost } = await import("./run-on-host.ts");
    return makeRunner("host", settings, (request) => runOnHost(request, enclosure));
  }
  const found: Bubblewrap | { fault: string } = await findBubblewrap(host.bubblewrap);
  if (!("fault" in found)) {
    const { runInBubblewrap } = await import("../sandbox/run-in-bubblewrap.ts");
    return makeRunner("bubblewrap", settings, (request) => runInBubblewrap(request, enclosure, found));
  }
  throw new RetinueError(
    "config",
    `commands need the sandbox, and there is none here: ${found.fault}`,
    process.platform === "linux" ? INSTALL_HINT : ELSEWHERE_HINT,
  );
}

function makeRunner(
  sandbox: CommandRunner["sandbox"],
  settings: ShellSettings,
  run: CommandRunner["run"],
): CommandRunner {
  return {
    sandbox,
    run: async (request) => {
      const checked = await checkRequest(request);
      if (request.signal.aborted) return describeStopped(sandbox);
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

function describeStopped(sandbox: CommandOutcome["sandbox"]): CommandOutcome {
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

function fillInPlaces({
  env = process.env,
  homeDir = homedir(),
  dataDir,
  configDir,
}: CommandHost): HostPlaces {
  return {
    env,
    homeDir,
    dataDir: dataDir ?? join(homeDir, ".local", "share", "retinue"),
    configDir: configDir ?? join(homeDir, ".config", "retinue"),
  };
}

const PROGRESS_EVERY_MS = 500;
const PROGRESS_CHARS = 200;

/** Tells the last line of output, not more often than a person can read. */
export function tellLastLine(context: ToolContext): (chunk: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    const line = chunk.trimEnd().split("\n").at(-1)?.trim();
    if (!line || performance.now() - toldAt < PROGRESS_EVERY_MS) return;
    toldAt = performance.now();
    context.progress(cutAt(line, PROGRESS_CHARS));
  };
}
