import type { AgentFormat } from "../../schema/agent.ts";
import { findOwn } from "../../schema/find-own.ts";

/** The names rules may use. Without `tools` every well-formed name is taken as known. */
export type KnownTools = {
  readonly tools?: ReadonlySet<string>;
  readonly groups?: ReadonlySet<string>;
  /** Names of MCP servers, so that `srv_tool` can be told from a plain name. */
  readonly servers?: ReadonlySet<string>;
};

/** How other programs call the tools that we have under another name; spellings are case-exact. */
const SPELLINGS: Readonly<Record<string, string>> = {
  read: "Read read_file read_many_files NotebookRead readFile",
  write: "Write write_file",
  edit: "Edit MultiEdit NotebookEdit multiedit patch apply_patch replace",
  "edit write": "editFiles",
  shell: "Bash bash PowerShell powershell run_shell_command runCommands runInTerminal execute",
  grep: "Grep grep_search search_file_content search codebase textSearch",
  glob: "Glob find fileSearch",
  ls: "LS list list_directory listDirectory",
  web_search: "WebSearch websearch google_web_search",
  web_fetch: "WebFetch webfetch fetch",
  delegate: "Task Agent task agent custom-agent runSubagent invoke_agent delegate_to_agent",
  todo: "TodoWrite todowrite todoread write_todos todos",
};

/** Our tools by every other spelling of theirs. */
const COMMON: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(SPELLINGS).flatMap(([tools, names]) =>
    names.split(" ").map((name) => [name, tools.split(" ")] as const),
  ),
);

/** Where one vendor's word covers more than the common one. In opencode every file change is one right. */
const BY_FORMAT: Partial<Record<AgentFormat, Readonly<Record<string, readonly string[]>>>> = {
  opencode: {
    edit: ["edit", "write"],
    write: ["edit", "write"],
    patch: ["edit", "write"],
    multiedit: ["edit", "write"],
  },
  copilot: {
    edit: ["edit", "write"],
    search: ["grep", "glob"],
    web: ["web_search", "web_fetch"],
  },
};

/** Names our own core tools go by; a vendor name that maps to one of them is always known. */
export const CORE_TOOLS: ReadonlySet<string> = new Set(Object.values(COMMON).flat());

/** Copilot's tool sets, whose members are written `set/member` like a server's tools. */
const COPILOT_SETS = new Set(["edit", "search", "read", "execute", "web", "vscode", "agent", "todo"]);

/** Tools of other vendors that have no counterpart here: allowing them gives nothing, denying them costs nothing. */
const ELSEWHERE = new Set(
  `Skill SlashCommand AskUserQuestion EnterPlanMode ExitPlanMode BashOutput KillShell KillBash TaskOutput TaskStop
  TaskCreate TaskGet TaskList TaskUpdate ToolSearch LSP ListMcpResourcesTool ReadMcpResourceTool SendMessage Monitor
  EnterWorktree ExitWorktree skill lsp question doom_loop external_directory plan_enter plan_exit save_memory ask_user
  activate_skill get_internal_docs enter_plan_mode exit_plan_mode vscode vscodeAPI usages problems changes testFailure
  openSimpleBrowser extensions githubRepo think new runTests runTasks runNotebooks findTestFiles searchResults
  terminalLastCommand terminalSelection getTerminalOutput`.split(/\s+/),
);

/** Our names for a vendor's tool; an empty list for one without a counterpart; undefined for a name of nobody. */
export function ourNames(name: string, format: AgentFormat): readonly string[] | undefined {
  const special = findOwn(BY_FORMAT[format], name) ?? findOwn(COMMON, name);
  if (special !== undefined) return special;
  if (ELSEWHERE.has(name)) return [];
  if (format !== "copilot") return undefined;
  const [set = "", member = "", ...more] = name.split("/");
  if (!COPILOT_SETS.has(set) || member === "" || more.length > 0) return undefined;
  return findOwn(COMMON, member) ?? [];
}

/** Vendor spellings for did-you-mean. */
export function vendorNames(): string[] {
  return Object.keys(COMMON);
}
