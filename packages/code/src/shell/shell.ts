import { join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { pathTarget } from "@retinue/core/files/resolve-path";
import type { ShellSettings } from "@retinue/core/schema/settings";
import { list, number, type TypeIn, textWith } from "@retinue/core/schema/shape";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import { toSeconds } from "@retinue/core/tools/accept-words";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { readTestOutput } from "../test-runs/read-test-output.ts";
import type { CommandHost, CommandOutcome } from "./command.ts";
import { findDiskRights } from "./disk-rights.ts";
import { type CommandPerformer, createPerformer, refuseCommand } from "./perform-command.ts";

/** What the tool takes; a command has at most so many seconds. */
function describeShellInput(seconds: number) {
  return describeInput({
    command: textWith({ minLength: 1, maxLength: 100_000 }),
    "cwd?": { ...textWith({ minLength: 1 }), description: "A folder; the project by default." },
    "timeoutSeconds?": { ...number, exclusiveMinimum: 0, description: `At most ${seconds}.` },
    "writes?": {
      ...list(textWith({ minLength: 1 })),
      description: "Only these may be written; none if empty.",
    },
  });
}
type ShellInput = TypeIn<ReturnType<typeof describeShellInput>>;

const SHELL_WORDS = {
  cmd: "command",
  script: "command",
  workdir: "cwd",
  working_directory: "cwd",
  directory: "cwd",
};

/** Runs commands as the defaults say; the runtime takes the one of its settings. */
export const shell: Tool<ShellInput> = createShell(DEFAULT_SHELL);

function describeLimits({ sandbox, network, seconds }: ShellSettings): string {
  const place =
    sandbox === "off" ? "on this machine itself" : "in a sandbox with project, workspace and an empty /tmp";
  return `bash, ${place}, ${network || sandbox === "off" ? "" : "no network, "}no input, at most ${seconds} s a command`;
}

/** Takes a command as a list of words, and a time-out in milliseconds. */
function acceptShell(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { timeout_ms, timeout = timeout_ms, ...rest } = input;
  return {
    ...rest,
    ...("command" in rest && { command: joinCommand(rest.command) }),
    ...(timeout !== undefined && { timeoutSeconds: toSeconds(timeout) }),
  };
}

/** A list of words as one command; of a shell that is told to run a text, the text. */
function joinCommand(command: unknown): unknown {
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return command;
  const [shell = "", flag = "", text, ...more] = command as string[];
  if (/^(?:\/bin\/)?(?:ba|z)?sh$/.test(shell) && /^-l?c$/.test(flag) && more.length === 0) return text;
  const quote = (word: string) =>
    /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return (command as string[]).map(quote).join(" ");
}

/** The shell tool: what a command may read and write is what the run may, and the sandbox holds it to that. */
export function createShell(settings: ShellSettings, host: CommandHost = {}): Tool<ShellInput> {
  const perform = createPerformer(settings, host);
  return defineTool<ShellInput>({
    name: "shell",
    description: "Runs a shell command. It can write what you can write; git's own files only by git_commit.",
    limits: describeLimits(settings),
    groups: ["shell"],
    risk: settings.network ? "high" : "medium",
    // On the host itself nothing keeps a command off the network.
    outbound: settings.network || settings.sandbox === "off",
    replay: "never",
    input: describeShellInput(settings.seconds),
    untold: ["writes"],
    words: SHELL_WORDS,
    accept: acceptShell,
    access: async ({ command, cwd = ".", writes = [] }, roots) => [
      { kind: "command", command },
      await pathTarget(cwd, "read", roots),
      ...(await Promise.all(writes.map((path) => pathTarget(path, "write", roots)))),
    ],
    confirm: async ({ command, cwd = "." }, { projectDir, workspaceDir }, earlier) => {
      const { confirmCommand } = await import("./confirm-command.ts");
      const folder = await pathTarget(cwd, "read", { projectDir, workspaceDir });
      const planned = {
        command,
        cwd: folder.kind === "path" ? folder.path : projectDir,
        projectDir,
        workspaceDir,
        sandboxed: settings.sandbox !== "off",
        dataDir: host.dataDir,
      };
      return confirmCommand(planned, earlier);
    },
    withSettings: (all, places) => createShell(all.shell, places),
    execute: async (input, context) => {
      try {
        const outcome = await performCommand(input, context, { settings, perform });
        const { exitCode, stdout, stderr } = outcome;
        const { projectDir, workspaceDir } = context;
        const facts = { exitCode, cwd: findFolder(context), projectDir, workspaceDir };
        for (const tests of await readTestOutput(input.command, `${stdout}\n${stderr}`, facts))
          context.tested(tests.suite, tests);
        return describeOutcome({ ...outcome, notes: [...outcome.notes, ...adviseCommit(outcome, context)] });
      } catch (thrown) {
        return refuseCommand("the command was not run", thrown);
      }
    },
  });
}

async function performCommand(
  { command, writes, timeoutSeconds }: ShellInput,
  context: ToolContext,
  { settings, perform }: { settings: ShellSettings; perform: CommandPerformer },
): Promise<CommandOutcome> {
  const [cwd, ...written] = context.targets.flatMap((target) => (target.kind === "path" ? [target] : []));
  if (!cwd || cwd.root === "outside") throw new Error("cwd is outside the project and the workspace");
  const rights = await findDiskRights(context);
  const asked = written.map(({ path }) => path);
  return perform(
    {
      script: command,
      cwd: cwd.path,
      network: settings.network,
      rights,
      ...(writes && { writable: narrowWritable(rights.writable, asked) }),
      ...(timeoutSeconds !== undefined && { seconds: timeoutSeconds }),
    },
    context,
  );
}

/** Where a command runs. */
function findFolder({ targets, projectDir, workspaceDir }: ToolContext): string {
  const cwd = targets.find((target) => target.kind === "path");
  return join(cwd?.root === "workspace" ? workspaceDir : projectDir, cwd?.relative ?? "");
}

/** What of the writable places was asked for. */
function narrowWritable(writable: readonly string[], asked: readonly string[]): string[] {
  return asked.flatMap((path) =>
    writable.some((folder) => isBelow(path, folder))
      ? [path]
      : writable.filter((each) => isBelow(each, path)),
  );
}

/** What git says where it cannot write its own files. */
const GIT_CLOSED = /\.git\/[^\n]*: Read-only file system/;

/** How to commit, for a run that tried it by a command and can do it otherwise. */
function adviseCommit({ exitCode, stderr, stdout }: CommandOutcome, { holds }: ToolContext): string[] {
  if (exitCode === 0 || !GIT_CLOSED.test(`${stderr}\n${stdout}`) || !holds?.("git_commit")) return [];
  return ["commands cannot change git's own files; call git_commit with the message and the paths to commit"];
}

function describeOutcome({ exitCode, stdout, stderr, notes, timedOut }: CommandOutcome): ToolOutput {
  const ending = exitCode === null ? (timedOut ? "timed out" : "stopped") : `exit code ${exitCode}`;
  const parts = [
    ending,
    ...(stdout.trim() === "" ? [] : [`stdout:\n${stdout.trimEnd()}`]),
    ...(stderr.trim() === "" ? [] : [`stderr:\n${stderr.trimEnd()}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
  return { text: parts.join("\n"), isError: exitCode !== 0 };
}
