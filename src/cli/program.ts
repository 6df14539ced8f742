import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, type Option } from "commander";
import { PACKAGE_ROOT } from "../files/package-root.ts";
import { registerAccounts } from "./commands/accounts.ts";
import { registerAgents } from "./commands/agents.ts";
import { registerBlacklist } from "./commands/blacklist.ts";
import { registerChanges } from "./commands/changes.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerReplay } from "./commands/replay.ts";
import { registerResume } from "./commands/resume.ts";
import { registerRun } from "./commands/run.ts";
import { registerSessions } from "./commands/sessions.ts";
import { registerStats } from "./commands/stats.ts";
import { registerTrace } from "./commands/trace.ts";
import type { Terminal } from "./terminal.ts";

/** One invocation: where it reads and writes, and what it will answer with. */
export type Cli = { readonly terminal: Terminal; exitCode: number };

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
    .addHelpText("after", '\nA task in quotes runs at once: retinue "explain what src/main.ts does"');
  registerRun(program, cli);
  registerPlan(program, cli);
  registerAgents(program, cli);
  registerResume(program, cli);
  registerReplay(program, cli);
  registerSessions(program, cli);
  registerTrace(program, cli);
  registerChanges(program, cli);
  registerStats(program, cli);
  registerBlacklist(program, cli);
  registerAccounts(program, cli);
  const version = readVersion();
  for (const command of [program, ...everyCommand(program)]) withCommon(command, version);
  return program;
}

/**
 * The arguments with `run` put in where a task stands without it: a first word with a blank in it is a task, and so
 * is whatever comes by stdin when only flags of `run` are given. A single unknown word stays a mistyped command.
 */
export function withRun(program: Command, args: readonly string[]): string[] {
  const run = program.commands.find((command) => command.name() === "run");
  let flags = 0;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") return flags > 0 || index === 0 ? ["run", ...args] : [...args];
    const option = run?.options.find((each) => isFlag(each, arg.replace(/=.*$/s, "")));
    if (!arg.startsWith("-") || arg === "-") return /\s/.test(arg) ? ["run", ...args] : [...args];
    if (!option) return [...args];
    if (!program.options.some((each) => isFlag(each, arg))) flags++;
    if (option.required && !arg.includes("=")) index++;
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

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...everyCommand(each)]);
}

function readVersion(): string {
  const text: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8"));
  return typeof text === "object" && text !== null && "version" in text ? String(text.version) : "unknown";
}
