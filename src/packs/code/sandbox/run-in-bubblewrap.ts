import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { RetinueError } from "../../../schema/error.ts";
import { isBelow } from "../shell/below.ts";
import { argvOf, commandEnvironment, withoutFiles } from "../shell/command-environment.ts";
import type { CommandOutcome, CommandRequest, Enclosure } from "../shell/run-command.ts";
import { FIRST_FD, runProcess } from "../shell/run-process.ts";
import { confine } from "./confine.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import { createPins, folderMounts } from "./folder-mounts.ts";
import { guardProtected } from "./guard-protected.ts";
import { linkedRepository } from "./linked-repository.ts";
import { programFolders } from "./program-folders.ts";
import { sandboxEnd } from "./sandbox-end.ts";
import { baseMounts, mountOptions, orderMounts } from "./sandbox-mounts.ts";

/** Runs a command that sees programs, the project and the workspace, and of the rest of the machine nothing. */
export async function runInBubblewrap(
  request: CommandRequest,
  enclosure: Enclosure,
  bubblewrap: Bubblewrap,
): Promise<CommandOutcome> {
  const { settings, places } = enclosure;
  const programs = programFolders(places);
  const shown = [request.projectDir, request.workspaceDir];
  const home = homeInside(shown, places.homeDir);
  const isClosed = request.hidden?.includes(join(request.projectDir, ".git"));
  const repository = isClosed ? [] : await linkedRepository(request.projectDir);
  const readable = [...(request.readable ?? []), ...repository];
  const guard = await guardProtected(request);
  const confinement = confine(settings);
  const pins = createPins(request, bubblewrap);
  try {
    const mounts = orderMounts([
      ...baseMounts(programs, { home, memoryMb: settings.memoryMb, shown }),
      ...(await folderMounts({ ...request, readable }, guard, { pins, secrets: programs.secrets })),
    ]);
    const { options, fds } = mountOptions(mounts, bubblewrap, FIRST_FD);
    const { stopped, first, ...outcome } = await runProcess({
      ...request,
      cwd: "/",
      argv: [
        ...confinement.before,
        ...[bubblewrap.program, "--args", "3", "--"],
        ...confinement.inside,
        ...withoutFiles(),
        ...argvOf(request),
      ],
      env: commandEnvironment(enclosure, request, { PATH: programs.path, HOME: home }),
      input3: [...flags(request, bubblewrap), ...options].map((each) => `${each}\0`).join(""),
      fds,
      watch: { folders: shown, limits: settings, memory: !confinement.fencesMemory },
    });
    const lasting = await sandboxEnd(first);
    await pins.close();
    // First, since a command can also end as a failed setup does.
    const found = await guard.check();
    refuseFailedSetup(outcome);
    const notes = [...(stopped ? [stopped] : []), ...lasting, ...found, ...confinement.notes];
    return { ...outcome, sandbox: "bubblewrap", notes };
  } finally {
    await pins.close();
    guard.release();
    await confinement.release();
  }
}

function flags({ network, cwd }: CommandRequest, { sealed }: Bubblewrap): string[] {
  return [
    ...["--unshare-all", "--unshare-user", ...(network ? ["--share-net"] : [])],
    ...(sealed ? ["--disable-userns"] : []),
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--chdir", cwd, "--info-fd", "4"],
  ];
}

/** The person's home stays a home, but an empty one; where the project is that home, another takes its place. */
function homeInside(shown: readonly string[], homeDir: string): string {
  const home = existsSync(homeDir) ? realpathSync(homeDir) : homeDir;
  const isShown = shown.some((folder) => isBelow(home, folder));
  return isShown || home === "/" ? "/tmp/home" : home;
}

function refuseFailedSetup({
  exitCode,
  stdout,
  stderr,
}: Pick<CommandOutcome, "exitCode" | "stdout" | "stderr">): void {
  const [line = "", ...more] = stderr.trimEnd().split("\n");
  if (stdout !== "" || more.length > 0) return;
  if (exitCode === 1 && line.startsWith("bwrap: ") && !line.startsWith("bwrap: execvp"))
    throw new RetinueError("failed", `the sandbox could not be set up: ${line.slice("bwrap: ".length)}`);
}
