import { extname } from "node:path";
import { buildChain, listDelegates, rightsRows } from "@retinue/builtin/explain-rights";
import { refuseBrokenSettings } from "@retinue/builtin/load-project";
import { toForm } from "@retinue/core/agents/edit/check-edit";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import { MAX_FILE_BYTES } from "@retinue/core/agents/read-text";
import { type AgentRegistry, takeDefinitions } from "@retinue/core/agents/registry";
import { writeUnifiedDiff } from "@retinue/core/changes/patch";
import type { Agent, AgentFormat, Problem } from "@retinue/core/schema/agent";
import type { AgentReview } from "@retinue/core/schema/api/agent";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { PermissionMode } from "@retinue/core/schema/rights";
import type { AnyTool } from "@retinue/core/tools/tool";
import { shownProblem } from "./agent-card.ts";
import { type Roster, type RosterEntry, shownPath, whyNotWritable } from "./agent-roster.ts";
import { delegationGraph } from "./delegation-view.ts";
import { findConcerns } from "./find-concerns.ts";
import { neighbourProblems, newCycles, reviewedRegistry } from "./reviewed-registry.ts";

/** A text to judge, and the project it is judged in. */
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
  const to = shownPath(path, projectDir);
  const names = { from: onDisk === null ? "/dev/null" : to, to };
  return {
    form: parsed.agent ? toForm(parsed.agent) : null,
    format,
    kept: Object.keys(parsed.agent?.extra ?? {}),
    problems: [...problems, ...judged.problems].map((problem) => shownProblem(problem, projectDir)),
    refusals: [
      ...(await whyNotWritable(input)),
      ...listRefusals(parsed.agent, parsed.problems, text ?? ""),
      ...(agent ? newCycles(agent.name, project.registry, after).map(circular) : []),
    ],
    concerns: judged.concerns,
    chain: [...judged.line.map((each) => each.name)],
    rights: judged.rights,
    delegatesTo: judged.delegatesTo,
    graph: delegationGraph(after),
    diff: text === null || text === onDisk ? "" : await writeUnifiedDiff(names, onDisk ?? "", text),
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
  const nothing = { rights: [], delegatesTo: [], concerns: [], line: [], problems: [] };
  if (!agent) return nothing;
  const line = [...parents.map((name) => parentNamed(name, after)), agent];
  try {
    refuseBrokenSettings(project);
    const chain = buildChain(line, project, mode);
    return {
      line,
      rights: rightsRows(chain),
      delegatesTo: listDelegates(line, chain, { registry: after, settings: project.settings }),
      concerns: findConcerns(agent, project, tools),
      problems: [],
    };
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    const message = `its rights cannot be told: ${messageOf(thrown)}`;
    const told = { message, fix: thrown.hint ?? "correct the rule" };
    const problem: Problem = { severity: "error", file: input.path, line: 0, code: "no-rights", ...told };
    return { ...nothing, line, problems: [problem] };
  }
}

/** An agent above the reviewed one. */
export function parentNamed(name: string, registry: AgentRegistry): Agent {
  const found = registry.get(name);
  if (found) return found;
  throw new RetinueError("input", registry.unknownAgentMessage(name), "choose another parent");
}

function listRefusals(agent: Agent | undefined, problems: readonly Problem[], text: string): string[] {
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
