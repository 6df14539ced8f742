import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { ShellSettings } from "@retinue/core/schema/settings";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import type { CommandHost, CommandOutcome, CommandRequest, CommandRunner } from "./command.ts";
import type { DiskRights } from "./disk-rights.ts";

/** A command of a tool. What it may touch besides follows from the run that called the tool. */
type AskedCommand = Pick<CommandRequest, "script" | "argv" | "cwd" | "env" | "network" | "maxOutputBytes"> & {
  rights: DiskRights;
  /** The part of the writable places that it needs; all of them if absent. */
  writable?: readonly string[];
  /** What it may also write, and what is no change of the project's. */
  scratch?: readonly string[];
  /** Its time, if that is less than the settings give. */
  seconds?: number;
};

/** Runs the commands of a tool. */
export type CommandPerformer = (asked: AskedCommand, context: ToolContext) => Promise<CommandOutcome>;

/**
 * Runs a tool's commands with the rights of the run that called it: what they change is kept, and the last line of their
 * output is shown. The way to run commands is loaded with the first one.
 */
export function createPerformer(settings: ShellSettings, host: CommandHost): CommandPerformer {
  let loading: Promise<CommandRunner> | undefined;
  return async ({ rights, writable = rights.writable, scratch = [], seconds, ...command }, context) => {
    loading ??= import("./run-command.ts").then((program) => program.createCommandRunner(settings, host));
    const runner = await loading;
    const { projectDir, workspaceDir, signal } = context;
    const run = () =>
      runner({
        ...command,
        projectDir,
        workspaceDir,
        writable: [...writable, ...scratch],
        readOnly: rights.readOnly,
        hidden: rights.hidden,
        timeoutMs: Math.min(seconds ?? Number.POSITIVE_INFINITY, settings.seconds) * 1_000,
        onOutput: tellLastLine(context),
        signal,
      });
    const outcome = await (writable.length > 0 ? context.aroundChanges(run) : run());
    return { ...outcome, notes: [...rights.notes, ...outcome.notes] };
  };
}

/** The answer to a call whose command could not be started. */
export function refuseCommand(what: string, thrown: unknown): ToolOutput {
  const hint = thrown instanceof RetinueError && thrown.hint ? ` (${thrown.hint})` : "";
  return { text: `${what}: ${messageOf(thrown)}${hint}`, isError: true };
}

const PROGRESS_EVERY_MS = 500;
const PROGRESS_CHARS = 200;

/** Tells the last line of output, not more often than a person can read. */
function tellLastLine(context: ToolContext): (chunk: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    const line = chunk.trimEnd().split("\n").at(-1)?.trim();
    if (!line || performance.now() - toldAt < PROGRESS_EVERY_MS) return;
    toldAt = performance.now();
    context.progress(cutAt(line, PROGRESS_CHARS));
  };
}
