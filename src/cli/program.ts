import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, type Option } from "commander";
import { PACKAGE_ROOT } from "../files/package-root.ts";
import { registerAccounts } from "./commands/accounts.ts";
import { registerAgents } from "./commands/agents.ts";
import { registerBlacklist } from "./commands/blacklist.ts";
import { registerChanges } from "./commands/changes.ts";
import { registerExport } from "./commands/inspect/export.ts";
import { registerSessions } from "./commands/inspect/sessions.ts";
import { registerStats } from "./commands/inspect/stats.ts";
import { registerTrace } from "./commands/inspect/trace.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerReplay } from "./commands/replay.ts";
import { registerResume } from "./commands/resume.ts";
import { registerRun } from "./commands/run.ts";
import { registerSession } from "./commands/session/register-session.ts";
import { registerSetup } from "./commands/setup/register-setup.ts";
import { registerTui } from "./commands/tui.ts";
import { shapeHelp } from "./help/shape-help.ts";
import type { Terminal } from "./terminal.ts";

/** One invocation: where it reads and writes, and what it will answer with. */
export type Cli = { readonly terminal: Terminal; exitCode: number };

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
  registerRun(program, cli);
  registerPlan(program, cli);
  registerResume(program, cli);
  registerSession(program, cli);
  registerTui(program, cli);
  registerSessions(program, cli);
  registerTrace(program, cli);
  registerExport(program, cli);
  registerStats(program, cli);
  registerReplay(program, cli);
  registerChanges(program, cli);
  registerAgents(program, cli);
  registerAccounts(program, cli);
  registerBlacklist(program, cli);
  registerSetup(program, cli);
  shapeHelp(program);
  const version = readVersion();
  for (const command of [program, ...everyCommand(program)]) withCommon(command, version);
  return program;
}

/**
 * The arguments with `run` put in where a task stands without it: a first word with a blank in it is a task, and so is
 * any word after flags of `run`, and whatever comes by stdin when only such flags are given. A single unknown word
 * stays a mistyped command.
 */
export function withRun(program: Command, args: readonly string[]): string[] {
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

function withCommon(command: Command, version: string): void {
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

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...everyCommand(each)]);
}

function readVersion(): string {
  const text: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8"));
  return typeof text === "object" && text !== null && "version" in text ? String(text.version) : "unknown";
}
