import type { Command } from "commander";
import { COMMAND_EXAMPLES } from "./command-examples.ts";

/** The commands as a newcomer looks for them, each in a few words; what is not named here comes last. */
const GROUPS: readonly (readonly [title: string, commands: Readonly<Record<string, string>>])[] = [
  [
    "Work:",
    {
      run: "run a task",
      tui: "talk with agents on the whole screen",
      serve: "open the web app",
      spawn: "run one agent on one task",
      plan: "plan a goal, then have the plan carried out",
      resume: "go on with a session that was interrupted",
      approve: "answer what agents ask for",
      cancel: "end a session or a run",
    },
  ],
  [
    "Look at what happened:",
    {
      sessions: "list sessions",
      trace: "draw the tree of runs of a session",
      export: "write everything of a session to files",
      stats: "success, time and cost by agent and model",
      replay: "run a session again from its record",
      diff: "show what a run changed",
      undo: "take back what a run changed",
      merge: "bring in what an isolated run changed",
      "trust-files": "list and release what tainted runs wrote",
    },
  ],
  [
    "Agents and accounts:",
    {
      agents: "list, show, check, explain, make and import agents",
      accounts: "mail, calendar, contacts and Slack",
      blacklist: "domains that crawls leave out",
    },
  ],
  [
    "Set up:",
    {
      init: "make this folder a project",
      demo: "watch agents at work, without a key",
      doctor: "see whether everything is in place",
      config: "read and change settings",
      completion: "complete commands in your shell",
    },
  ],
];

/** Groups the commands of the program, and gives every command its examples. */
export function shapeHelp(program: Command): void {
  for (const [title, commands] of GROUPS) {
    for (const [name, summary] of Object.entries(commands)) {
      const command = program.commands.find((each) => each.name() === name);
      command?.helpGroup(title).summary(summary);
    }
  }
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  program.commandsGroup("More:");
  addExamples(program, "");
}

/** The lines below a command's help. */
export function examplesText(examples: readonly string[]): string {
  return `\n${examples.length === 1 ? "Example" : "Examples"}:\n${examples.map((line) => `  ${line}`).join("\n")}`;
}

function addExamples(command: Command, path: string): void {
  for (const each of command.commands) {
    const words = `${path} ${each.name()}`.trim();
    const examples = COMMAND_EXAMPLES[words];
    if (examples) each.addHelpText("after", examplesText(examples));
    addExamples(each, words);
  }
}
