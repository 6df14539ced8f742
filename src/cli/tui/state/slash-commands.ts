/** A command that is typed with a slash. */
export type SlashCommand = { readonly name: string; readonly takes: string; readonly does: string };

/** Every slash command, in the order in which help lists them. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "agents", takes: "", does: "list the agents" },
  {
    name: "spawn",
    takes: "AGENT task",
    does: "give an agent a task of its own; its report goes into the conversation",
  },
  { name: "runs", takes: "", does: "list what runs and ran here" },
  { name: "plan", takes: "goal | run [ID]", does: "make a plan, or carry out the last one" },
  { name: "cost", takes: "", does: "tokens and money so far" },
  { name: "model", takes: "[NAME]", does: "show or change the model" },
  { name: "permissions", takes: "[MODE]", does: "show or change how asks are answered" },
  { name: "approve", takes: "[ID [no]]", does: "what waits for an answer, and answering it" },
  { name: "stop", takes: "[RUN]", does: "stop a run, or everything" },
  { name: "resume", takes: "[SESSION]", does: "go on with an earlier session" },
  { name: "export", takes: "[FILE]", does: "save this session as a file" },
  { name: "doctor", takes: "", does: "check the set-up" },
  { name: "help", takes: "", does: "commands and keys" },
  { name: "clear", takes: "", does: "begin a new session" },
  { name: "quit", takes: "", does: "leave" },
];

/** A line that is a slash command, taken apart; undefined for what is no command, such as a path. */
export function parseSlash(text: string): { name: string; rest: string } | undefined {
  const found = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found?.[1] === undefined ? undefined : { name: found[1], rest: (found[2] ?? "").trim() };
}
