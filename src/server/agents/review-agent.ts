import { extname } from "node:path";
import { formOf } from "../../agents/edit/agent-form.ts";
import { parseAgentFile } from "../../agents/parse-agent-file.ts";
import { MAX_FILE_BYTES } from "../../agents/read-text.ts";
import { type AgentRegistry, takeDefinitions } from "../../agents/registry.ts";
import type { PermissionMode } from "../../runtime/approvals.ts";
import { chainOf, delegatesOf, rightsRows } from "../../runtime/project/explain-rights.ts";
import { refuseBrokenSettings } from "../../runtime/project/load-project.ts";
import type { Agent, AgentFormat, Problem } from "../../schema/agent.ts";
import type { AgentReview } from "../../schema/api/agent.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { AnyTool } from "../../tools/tool.ts";
import { shownProblem } from "./agent-card.ts";
import { type Roster, type RosterEntry, shownPath } from "./agent-roster.ts";
import { delegationGraph } from "./delegation-view.ts";
import { findConcerns } from "./find-concerns.ts";
import { whyNotWritable } from "./place-of-agent.ts";
import { neighbourProblems, newCycles, reviewedRegistry } from "./reviewed-registry.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** A text that is to be judged, and what it is judged against. */
export type ReviewInput = {
  readonly roster: Roster;
  readonly tools: readonly AnyTool[];
  readonly mode: PermissionMode;
  /** Null for a definition that is in no file. */
  readonly text: string | null;
  /** Whose file it is; null for a new one. */
  readonly entry: RosterEntry | null;
  /** Where the file is or would be. */
  readonly path: string;
  readonly scope: "project" | "user" | "builtin" | "code";
  /** The file as it is on disk; null if there is none. */
  readonly onDisk: string | null;
  /** Agents above it, root first. */
  readonly parents: readonly string[];
};

/** Judges a text as if it were saved. */
export async function reviewAgent(input: ReviewInput): Promise<AgentReview> {
  const { roster, text, entry, path, scope, onDisk } = input;
  const { project, projectDir } = roster;
  const format: AgentFormat = entry?.source.format ?? "native";
  const options = { file: path, format, scope, known: project.known };
  const parsed = text === null ? { agent: entry?.agent, problems: [] } : await parseAgentFile(text, options);
  const [definition] = takeDefinitions(parsed, { format, scope, file: path });
  const after =
    text === null ? project.registry : reviewedRegistry(project, projectDir, { path, agent: definition });
  // References are by name here, whatever alias the file uses.
  const agent = parsed.agent && ownIn(after, parsed.agent);
  const oldName = entry?.name ?? null;
  const problems = [...parsed.problems, ...(agent ? neighbourProblems(after, agent, oldName) : [])];
  const judged = judge(input, agent, after);
  return {
    form: parsed.agent ? formOf(parsed.agent) : null,
    format,
    kept: Object.keys(parsed.agent?.extra ?? {}),
    problems: [...problems, ...judged.problems].map((problem) => shownProblem(problem, projectDir)),
    refusals: [
      ...(await whyNotWritable(input)),
      ...refusalsOf(parsed.agent, parsed.problems, text ?? ""),
      ...(agent ? newCycles(agent.name, project.registry, after).map(circular) : []),
    ],
    concerns: judged.concerns,
    chain: [...judged.line.map((each) => each.name)],
    rights: judged.rights,
    delegatesTo: judged.delegatesTo,
    graph: delegationGraph(after),
    diff:
      text === null
        ? ""
        : await unifiedDiff({ name: shownPath(path, projectDir), before: onDisk, after: text }),
  };
}

function ownIn(registry: AgentRegistry, agent: Agent): Agent {
  const isOwn = (each: Agent): boolean => each.source.file === agent.source.file;
  return registry.list().find(isOwn) ?? registry.disabled.find(isOwn) ?? agent;
}

type Judged = Pick<AgentReview, "rights" | "delegatesTo" | "concerns"> & {
  line: Agent[];
  problems: Problem[];
};

/** The rights below the chosen parents; none if the settings above them cannot be read. */
function judge(input: ReviewInput, agent: Agent | undefined, after: AgentRegistry): Judged {
  const { roster, parents, tools, mode } = input;
  const { project } = roster;
  if (!agent) return { rights: [], delegatesTo: [], concerns: [], line: [], problems: [] };
  const line = [...parents.map((name) => parentNamed(name, after)), agent];
  try {
    refuseBrokenSettings(project);
    const chain = chainOf(line, project, mode);
    return {
      line,
      rights: rightsRows(chain),
      delegatesTo: delegatesOf(line, chain, { registry: after, settings: project.settings }),
      concerns: findConcerns(agent, project, tools),
      problems: [],
    };
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    const message = `its rights cannot be told: ${messageOf(thrown)}`;
    const fix = thrown.hint ?? "correct the rule";
    const problem: Problem = {
      severity: "error",
      file: input.path,
      line: 0,
      code: "no-rights",
      message,
      fix,
    };
    return { line, rights: [], delegatesTo: [], concerns: [], problems: [problem] };
  }
}

/** An agent that stands above the reviewed one. */
export function parentNamed(name: string, registry: AgentRegistry): Agent {
  const found = registry.get(name);
  if (found) return found;
  throw new RetinueError("input", registry.unknownAgentMessage(name), "choose another parent");
}

function refusalsOf(agent: Agent | undefined, problems: readonly Problem[], text: string): string[] {
  const errors = problems.filter(({ severity }) => severity === "error");
  const refusals = errors.map(({ message, line }) => (line > 0 ? `line ${line}: ${message}` : message));
  if (agent === undefined && refusals.length === 0)
    refusals.push("No agent can be made of this text: it has no description.");
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) refusals.push(`It is larger than ${MAX_FILE_BYTES} bytes.`);
  if (text.includes("\0")) refusals.push("It holds a NUL character.");
  return refusals;
}

function circular(cycle: readonly string[]): string {
  const path = [...cycle, cycle[0]].join(" → ");
  const kind = cycle.length === 1 ? "It delegates to itself" : "It closes a circle of delegations";
  return `${kind}: ${path}. Remove a reference, or set subagents.recursive: true.`;
}

/** A new file's path: its agent's name, or a word that no agent has while it has none. */
export function fileName(name: string | undefined): string {
  const file = name === undefined || name === "" ? "unnamed" : name;
  return extname(file) === ".md" ? file : `${file}.md`;
}
