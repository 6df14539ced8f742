import { readVersion } from "@retinue/core/files/package-root";
import type { Command, Option } from "commander";
import { CliCommand } from "./cli-command.ts";
import type { Invocation } from "./terminal.ts";

/** A command: its few words in the program's help, and how what it takes and does is declared. */
type CommandEntry = readonly [
  name: string,
  summary: string,
  load: () => Promise<{ default(command: CliCommand): void }>,
];

/** The commands as a newcomer looks for them. Each is a file in `commands/`, which is loaded when it is called. */
const GROUPS: readonly (readonly [title: string, commands: readonly CommandEntry[]])[] = [
  [
    "Work:",
    [
      ["run", "run a task", () => import("./commands/run.ts")],
      ["plan", "plan a goal, then have the plan carried out", () => import("./commands/plan.ts")],
      ["resume", "go on with a session that was interrupted", () => import("./commands/resume.ts")],
      ["spawn", "run one agent on one task", () => import("./commands/spawn.ts")],
      ["approve", "answer what agents ask for", () => import("./commands/approve.ts")],
      ["cancel", "end a session or a run", () => import("./commands/cancel.ts")],
      ["tui", "talk with agents on the whole screen", () => import("./commands/tui.ts")],
      ["serve", "open the web app", () => import("./commands/serve.ts")],
    ],
  ],
  [
    "Look at what happened:",
    [
      ["sessions", "list sessions", () => import("./commands/sessions.ts")],
      ["trace", "draw the tree of runs of a session", () => import("./commands/trace.ts")],
      ["export", "write everything of a session to files", () => import("./commands/export.ts")],
      ["stats", "success, time and cost by agent and model", () => import("./commands/stats.ts")],
      ["replay", "run a session again from its record", () => import("./commands/replay.ts")],
      ["diff", "show what a run changed", () => import("./commands/diff.ts")],
      ["undo", "take back what a run changed", () => import("./commands/undo.ts")],
      ["merge", "bring in what an isolated run changed", () => import("./commands/merge.ts")],
      ["trust-files", "list and release what tainted runs wrote", () => import("./commands/trust-files.ts")],
    ],
  ],
  [
    "Agents and accounts:",
    [
      ["agents", "list, show, check, explain, make and import agents", () => import("./commands/agents.ts")],
      ["accounts", "mail, calendar, contacts and Slack", () => import("./commands/accounts.ts")],
      ["blacklist", "domains that crawls leave out", () => import("./commands/blacklist.ts")],
    ],
  ],
  [
    "Set up:",
    [
      ["init", "make this folder a project", () => import("./commands/init.ts")],
      ["demo", "watch agents at work, without a key", () => import("./commands/demo.ts")],
      ["doctor", "see whether everything is in place", () => import("./commands/doctor.ts")],
      ["config", "read and change settings", () => import("./commands/config.ts")],
      ["completion", "complete commands in your shell", () => import("./commands/completion.ts")],
    ],
  ],
];

/** What a newcomer may type first. */
const START = `
Examples:
  retinue demo
  retinue "explain what src/main.ts does"
  retinue COMMAND --help`;

/** The program with all its commands, of which those that `args` may mean are declared in full; without `args`, all. */
export async function createProgram(cli: Invocation, args?: readonly string[]): Promise<CliCommand> {
  const program = new CliCommand("retinue", cli);
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
  const isMeant = args ? findMeant(args) : () => true;
  for (const [title, commands] of GROUPS) {
    program.commandsGroup(title);
    for (const [name, summary, load] of commands) {
      const command = program.command(name).summary(summary);
      if (isMeant(name)) (await load()).default(command);
    }
  }
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  const version = readVersion();
  for (const command of [program, ...listCommands(program)]) addCommonOptions(command, version);
  return program;
}

/** Which commands a command line may be about: the first word, or any after options; a task without a command is a run. */
function findMeant(args: readonly string[]): (name: string) => boolean {
  const [first = ""] = args;
  if (/^(?:-h|--help|-V|--version)?$/.test(first)) return () => false;
  const isNamed = GROUPS.some(([, commands]) => commands.some(([name]) => name === first));
  return isNamed ? (name) => name === first : (name) => name === "run" || args.includes(name);
}

/**
 * The arguments with `run` put in front of a task that lacks it: a first word with a blank in it is a task, and so is
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

function listCommands(command: Command): readonly Command[] {
  return command.commands.flatMap((each) => [each, ...listCommands(each)]);
}
