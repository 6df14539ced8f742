import type { Project } from "@retinue/builtin/load-project";
import { findCycles } from "@retinue/core/agents/check-references";
import { type AgentRegistry, createRegistry } from "@retinue/core/agents/registry";
import type { Agent, BrokenAgent, Problem } from "@retinue/core/schema/agent";
import { agentFolders } from "./agent-roster.ts";

/** A text in the place of a file: the agent that was there is gone. */
type Replacement = { path: string; agent: Agent | BrokenAgent | undefined };

/** The agents of a project as they would be with this text. */
export function reviewedRegistry(
  project: Project,
  projectDir: string,
  { path, agent }: Replacement,
): AgentRegistry {
  const { registry, settings } = project;
  const folders = agentFolders(project, projectDir);
  const known = [
    ...registry.list(),
    ...registry.disabled,
    ...registry.broken,
    ...registry.shadowed.map((each) => each.agent),
  ];
  const others = known.filter(({ source }) => source.file !== path);
  const rank = ({ source }: Pick<Agent, "source">): number => {
    if (source.format === "settings" || source.format === "code") return -1;
    const at = folders.findIndex(({ dir }) => source.file?.startsWith(`${dir}/`));
    return at === -1 ? folders.length : at;
  };
  const ordered = [...others, ...(agent ? [agent] : [])].toSorted(
    (a, b) => rank(a) - rank(b) || compareFiles(a, b),
  );
  return createRegistry({ agents: ordered, disabledAgents: settings.disabledAgents });
}

/** Folders are searched level by level, each in the order of its names. */
function compareFiles({ source: a }: Pick<Agent, "source">, { source: b }: Pick<Agent, "source">): number {
  const [left, right] = [a.file ?? "", b.file ?? ""];
  return left.split("/").length - right.split("/").length || (left < right ? -1 : left > right ? 1 : 0);
}

/** Circles through an agent that were not there before and that no agent in them allows. */
export function newCycles(name: string, before: AgentRegistry, after: AgentRegistry): string[][] {
  const known = new Set(findCycles(before.list()).map((cycle) => cycle.join(" ")));
  return findCycles(after.list()).filter(
    (cycle) =>
      cycle.includes(name) &&
      !known.has(cycle.join(" ")) &&
      !cycle.some((member) => after.get(member)?.subagents?.recursive),
  );
}

/** What is wrong between this agent and others: references, aliases, names that are taken, names that are missed. */
export function neighbourProblems(after: AgentRegistry, agent: Agent, oldName: string | null): Problem[] {
  const file = agent.source.file ?? "code";
  const own = after.problems.filter(
    (problem) =>
      problem.file === file || (problem.code === "delegation-cycle" && isMember(agent.name, problem)),
  );
  const warn = (code: string, message: string, fix: string): Problem => {
    return { severity: "warning", file, line: 0, code, message, fix };
  };
  const rival = after.shadowed.find(
    (each) => each.agent.source.file === file || each.by.source.file === file,
  );
  const other = rival && (rival.by.source.file === file ? rival.agent : rival.by);
  if (other && other.source.scope === agent.source.scope)
    own.push(
      warn(
        "name-taken",
        `'${agent.name}' is also defined in ${other.source.file ?? "the settings"}`,
        "give one of them another name",
      ),
    );
  if (oldName !== null && oldName !== agent.name && after.get(oldName) === undefined) {
    const referring = after
      .list()
      .filter(({ subagents }) => [...(subagents?.allow ?? []), ...(subagents?.deny ?? [])].includes(oldName));
    const names = referring.map(({ name }) => name).join(", ");
    if (names !== "")
      own.push(
        warn(
          "renamed-agent",
          `'${oldName}' is now '${agent.name}', but these refer to it by its old name: ${names}`,
          `change them, or keep '${oldName}' as an alias`,
        ),
      );
  }
  return own;
}

function isMember(name: string, { message }: Problem): boolean {
  return message.split(/[ →]+/).includes(name);
}
