import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import { Command, type Option } from "commander";
import { registerAccounts } from "./commands/accounts.ts";
import { registerAgents } from "./commands/agents.ts";
import { registerApprove } from "./commands/approve.ts";
import { registerBlacklist } from "./commands/blacklist.ts";
import { registerCancel } from "./commands/cancel.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerConfig } from "./commands/config.ts";
import { registerDemo } from "./commands/demo.ts";
import { registerDiff } from "./commands/diff.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerExport } from "./commands/export.ts";
import { registerInit } from "./commands/init.ts";
import { registerMerge } from "./commands/merge.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerReplay } from "./commands/replay.ts";
import { registerResume } from "./commands/resume.ts";
import { registerRun } from "./commands/run.ts";
import { registerServe } from "./commands/serve.ts";
import { registerSessions } from "./commands/sessions.ts";
import { registerSpawn } from "./commands/spawn.ts";
import { registerStats } from "./commands/stats.ts";
import { registerTrace } from "./commands/trace.ts";
import { registerTrustFiles } from "./commands/trust-files.ts";
import { registerTui } from "./commands/tui.ts";
import { registerUndo } from "./commands/undo.ts";
import type { Cli } from "./terminal.ts";

/** The commands as a newcomer looks for them. */
const GROUPS: readonly (readonly [
  title: string,
  register: readonly ((program: Command, cli: Cli) => void)[],
])[] = [
  [
    "Work:",
    [
      registerRun,
      registerPlan,
      registerResume,
      registerSpawn,
      registerApprove,
      registerCancel,
      registerTui,
      registerServe,
    ],
  ],
  [
    "Look at what happened:",
    [
      registerSessions,
      registerTrace,
      registerExport,
      registerStats,
      registerReplay,
      registerDiff,
      registerUndo,
      registerMerge,
      registerTrustFiles,
    ],
  ],
  ["Agents and accounts:", [registerAgents, registerAccounts, registerBlacklist]],
  ["Set up:", [registerInit, registerDemo, registerDoctor, registerConfig, registerCompletion]],
];

/** What a newcomer may type first. */
const START = `
Examples:
  retinue demo
  retinue "explain what src/main.ts does"
  retinue COMMAND --help`;

/** The commands. Their work is loaded only when one of them is called. */
export function createProgram(cli: Cli): Command {
  const program = new Command("retinue");
  program
    .description("Runs agents that delegate to sub-agents, and keeps them honest.")
    .usage("[options] [command | task]")
    .helpCommand(false)
    .enablePositionalOptions()
    .showHelpAfterError("(see retinue --help)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.terminal.print(text.trimEnd()),
      writeErr: (text) => cli.terminal.tell(text.trimEnd()),
    })
    .addHelpText("after", START);
  for (const [title, commands] of GROUPS) {
    program.commandsGroup(title);
    for (const register of commands) register(program, cli);
  }
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  const version = readVersion();
  for (const command of [program, ...listCommands(program)]) addCommonOptions(command, version);
  return program;
}

/**
 * The arguments with `run` put in where a task stands without it: a first word with a blank in it is a task, and so is
 * any word after flags of `run`, and whatever comes by stdin when only such flags are given. A single unknown word
 * is treated as a mistyped command.
 */
export function insertRun(program: Command, args: readonly string[]): string[] {
  const run = program.commands.find((command) => command.name() === "run");
  let flags = 0;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") return flags > 0 || index === 0 ? ["run", ...args] : [...args];
    const option = run?.options.find((each) => isFlag(each, arg.replace(/=.*$/s, "")));
    if (!arg.startsWith("-") || arg === "-") {
      const isTask = /\s/.test(arg) || (flags > 0 && !isCommand(program, arg));
      return isTask ? ["run", ...args] : [...args];
    }
    if (!option) return [...args];
    if (!program.options.some((each) => isFlag(each, arg))) flags++;
    const mayHave = option.optional && /^[^-\s]+$/.test(args[index + 1] ?? "");
    if ((option.required || mayHave) && !arg.includes("=")) index++;
  }
  return flags > 0 ? ["run", ...args] : [...args];
}

function addCommonOptions(command: Command, version: string): void {
  command
    .option("-C, --cwd <dir>", "work in this folder")
    .option("--json", "print the result as JSON")
    .version(version, "-V, --version", "print the version");
}

function isFlag({ short, long }: Option, arg: string): boolean {
  return arg === short || arg === long;
}

function isCommand(program: Command, name: string): boolean {
  return program.commands.some((command) => command.name() === name || command.aliases().includes(name));
}

function listCommands(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...listCommands(each)]);
}

function readVersion(): string {
  const text: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8"));
  return typeof text === "object" && text !== null && "version" in text ? String(text.version) : "unknown";
}
