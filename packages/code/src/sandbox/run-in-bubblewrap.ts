import { existsSync, realpathSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { RetinueError } from "@retinue/core/schema/error";
import {
  buildArgv,
  buildEnvironment,
  type CommandOutcome,
  type CommandRequest,
  type Enclosure,
  enterSandbox,
  wrapInShell,
} from "../shell/command.ts";
import { FIRST_FD, runProcess } from "../shell/run-process.ts";
import { type Bubblewrap, OUTER_RIGHTS } from "./find-bubblewrap.ts";
import { guardProtected } from "./guard-protected.ts";
import { findProgramFolders } from "./program-folders.ts";
import { confine } from "./resource-limits.ts";
import { waitForSandboxEnd } from "./sandbox-end.ts";
import {
  findWrongMount,
  listBaseMounts,
  listFolderMounts,
  MovedMeanwhile,
  orderMounts,
  toBwrapOptions,
} from "./sandbox-mounts.ts";

/** How often a sandbox is built again because a folder was moved meanwhile: about one in four tries when forty commands all plant files. */
const MOST_TRIES = 20;

/** Runs a command that sees programs, the project and the workspace, and of the rest of the machine nothing. */
export async function runInBubblewrap(
  request: CommandRequest,
  enclosure: Enclosure,
  bubblewrap: Bubblewrap,
): Promise<CommandOutcome> {
  let fault = "";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const tried = await tryInBubblewrap(request, enclosure, bubblewrap);
    if ("exitCode" in tried) return tried;
    ({ fault } = tried);
  }
  throw new RetinueError("failed", `the sandbox could not be set up: ${fault}`);
}

/** One try; a fault means that nothing was run. */
async function tryInBubblewrap(
  request: CommandRequest,
  enclosure: Enclosure,
  bubblewrap: Bubblewrap,
): Promise<CommandOutcome | { fault: string }> {
  const { settings, places } = enclosure;
  const programs = findProgramFolders(places);
  const shown = [request.projectDir, request.workspaceDir];
  const home = chooseHome(shown, places.homeDir);
  const isClosed = request.hidden?.includes(join(request.projectDir, ".git"));
  const repository = isClosed ? [] : await findLinkedRepository(request.projectDir);
  const readable = [...(request.readable ?? []), ...repository];
  const guard = await guardProtected(request, places);
  const confinement = confine(settings);
  const pins = new DisposableStack();
  try {
    const mounts = orderMounts([
      ...listBaseMounts(programs, { home, memoryMb: settings.memoryMb, shown }),
      { kind: "read", at: bubblewrap.program },
      ...listFolderMounts({ ...request, readable }, guard, { pins, secrets: programs.secrets }),
    ]);
    const { options, fds } = toBwrapOptions(mounts, bubblewrap, FIRST_FD);
    const { stopped, first, begun, ...outcome } = await runProcess({
      ...request,
      cwd: "/",
      argv: [
        ...confinement.before,
        ...[bubblewrap.program, "--args", "3", "--"],
        ...confinement.inside,
        ...enterSandbox(),
        ...lockMounts(request, bubblewrap),
        ...(request.argv ? wrapInShell(request.argv) : buildArgv(request)),
      ],
      env: buildEnvironment(enclosure, request, { PATH: programs.path, HOME: home }),
      input3: [...listFlags(request), ...options].map((each) => `${each}\0`).join(""),
      fds,
      admit: async (first) => {
        const wrong = await findWrongMount(first.pid, mounts);
        if (wrong !== undefined) throw new MovedMeanwhile(wrong);
        guard.begin(first, confinement.groups);
      },
      watch: { folders: shown, limits: settings, memory: !confinement.fencesMemory },
    });
    if (!begun && stopped === undefined) return { fault: describeFault(outcome) };
    const lasting = await waitForSandboxEnd(first);
    const found = await guard.settle();
    const why = outcome.exitCode === 0 ? [] : guard.notes;
    const met = explainHeld(guard.held, outcome);
    const notes = [...(stopped ? [stopped] : []), ...lasting, ...found, ...met, ...why, ...confinement.notes];
    return { ...outcome, notes };
  } catch (thrown) {
    if (thrown instanceof MovedMeanwhile) return { fault: thrown.message };
    throw thrown;
  } finally {
    pins.dispose();
    await guard.settle();
    await confinement.release();
  }
}

/** A program that takes a name for a file's trips over the folder that holds its place. */
function explainHeld(held: readonly string[], { stderr }: Pick<CommandOutcome, "stderr">): string[] {
  const met = held.filter((path) => extname(path) !== "" && stderr.includes(basename(path)));
  if (met.length === 0) return [];
  return [`empty folders that only keep a name free while a command runs; pass over them: ${met.join(", ")}`];
}

function describeFault({ stderr, exitCode }: Pick<CommandOutcome, "stderr" | "exitCode">): string {
  const [line = ""] = stderr.trimEnd().split("\n");
  return line.replace(/^bwrap: /, "") || `exit code ${exitCode}`;
}

/**
 * A second namespace inside: its mounts are locked to each other. Without it, an open folder that one command hands to
 * another through a socket would lose what is mounted below it when the first command ends.
 */
function lockMounts({ cwd }: CommandRequest, { program, sealed }: Bubblewrap): string[] {
  return [
    ...[program, "--dev-bind", "/", "/", "--unshare-user", ...(sealed ? ["--disable-userns"] : [])],
    ...["--cap-drop", "ALL", "--die-with-parent", "--chdir", cwd, "--"],
  ];
}

function listFlags({ network, cwd }: CommandRequest): string[] {
  return [
    ...["--unshare-all", "--unshare-user", ...(network ? ["--share-net"] : [])],
    ...["--die-with-parent", "--new-session", ...OUTER_RIGHTS, "--hostname", "sandbox"],
    ...["--chdir", cwd, "--info-fd", "4"],
  ];
}

/** The person's home stays a home, but an empty one; where the project is that home, another takes its place. */
function chooseHome(shown: readonly string[], homeDir: string): string {
  const home = existsSync(homeDir) ? realpathSync(homeDir) : homeDir;
  const isShown = shown.some((folder) => isBelow(home, folder));
  return isShown || home === "/" ? "/tmp/home" : home;
}

/**
 * Where git keeps what belongs to a linked worktree, so that its commands can read it; none for any other folder. What a
 * `.git` file says counts only if the repository it names knows this folder: else any folder could open any repository.
 */
async function findLinkedRepository(projectDir: string): Promise<string[]> {
  try {
    const [, named = ""] = /^gitdir: (.+)\n?$/.exec(await readFile(join(projectDir, ".git"), "utf8")) ?? [];
    if (named === "") return [];
    const gitDir = await realpath(resolve(projectDir, named));
    const known = (await readFile(join(gitDir, "gitdir"), "utf8")).trim();
    const common = (await readFile(join(gitDir, "commondir"), "utf8")).trim();
    const repository = await realpath(resolve(gitDir, common));
    const isKnown = (await realpath(dirname(resolve(gitDir, known)))) === projectDir;
    return isKnown && dirname(gitDir) === join(repository, "worktrees") ? [repository] : [];
  } catch {
    return [];
  }
}
