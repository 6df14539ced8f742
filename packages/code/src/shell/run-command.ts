import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { LONGEST_TIMER_MS } from "@retinue/core/budget/clock";
import { isBelow } from "@retinue/core/files/is-below";
import { RetinueError } from "@retinue/core/schema/error";
import type { ShellSettings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { type Bubblewrap, findBubblewrap } from "../sandbox/find-bubblewrap.ts";
import { findProgramFolders } from "../sandbox/program-folders.ts";
import { confine } from "../sandbox/resource-limits.ts";
import { runInBubblewrap } from "../sandbox/run-in-bubblewrap.ts";
import {
  buildArgv,
  buildEnvironment,
  type CommandHost,
  type CommandOutcome,
  type CommandRequest,
  type CommandRunner,
  type Enclosure,
} from "./command.ts";
import { runProcess } from "./run-process.ts";

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
  if (settings.sandbox === "off") return makeRunner(settings, (request) => runOnHost(request, enclosure));
  const found: Bubblewrap | { fault: string } = await findBubblewrap(host.bubblewrap);
  if (!("fault" in found))
    return makeRunner(settings, (request) => runInBubblewrap(request, enclosure, found));
  throw new RetinueError(
    "config",
    `commands need the sandbox, and there is none here: ${found.fault}`,
    process.platform === "linux" ? INSTALL_HINT : ELSEWHERE_HINT,
  );
}

function makeRunner(settings: ShellSettings, run: CommandRunner): CommandRunner {
  return async (request) => {
    const checked = await checkRequest(request);
    if (request.signal.aborted) return STOPPED;
    const timeoutMs = Math.max(1, Math.min(request.timeoutMs, settings.seconds * 1_000, LONGEST_TIMER_MS));
    return run({ ...checked, timeoutMs, network: settings.network && request.network === true });
  };
}

const STOPPED: CommandOutcome = {
  exitCode: null,
  stdout: "",
  stderr: "",
  timedOut: false,
  notes: ["it was stopped before it began"],
};

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

/** Runs a command on the host itself, with the person's rights; only their own settings can ask for this. */
async function runOnHost(request: CommandRequest, enclosure: Enclosure): Promise<CommandOutcome> {
  const { settings, places } = enclosure;
  const confinement = confine(settings);
  try {
    const {
      stopped,
      first: _,
      ...outcome
    } = await runProcess({
      ...request,
      argv: [...confinement.before, ...buildArgv(request)],
      env: buildEnvironment(enclosure, request, {
        PATH: places.env.PATH || findProgramFolders(places).path,
        HOME: places.homeDir,
      }),
      leadsGroup: true,
      watch: {
        folders: [request.projectDir, request.workspaceDir],
        limits: settings,
        memory: !confinement.fencesMemory,
      },
    });
    const notes = ["no sandbox: it ran on the host, as the settings say", ...confinement.notes];
    return { ...outcome, notes: stopped ? [stopped, ...notes] : notes };
  } finally {
    await confinement.release();
  }
}
