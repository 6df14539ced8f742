import { findProgramFolders } from "../sandbox/program-folders.ts";
import { confine } from "../sandbox/resource-limits.ts";
import {
  buildArgv,
  buildEnvironment,
  type CommandOutcome,
  type CommandRequest,
  type Enclosure,
} from "./command.ts";
import { runProcess } from "./run-process.ts";

/** Runs a command on the host itself, with the person's rights; only their own settings can ask for this. */
export async function runOnHost(request: CommandRequest, enclosure: Enclosure): Promise<CommandOutcome> {
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
    return { ...outcome, sandbox: "host", notes: stopped ? [stopped, ...notes] : notes };
  } finally {
    await confinement.release();
  }
}
