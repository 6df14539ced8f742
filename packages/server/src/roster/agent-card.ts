import { countProblems, findAgentFolder } from "@retinue/builtin/load-project";
import type { Problem } from "@retinue/core/schema/agent";
import type { AgentCard, AgentList } from "@retinue/core/schema/api/agent";
import type { AnyTool } from "@retinue/core/tools/tool";
import { isEditable, type Roster, type RosterEntry, shownPath } from "./agent-roster.ts";
import { describeFace } from "./delegation-view.ts";
import { findConcerns } from "./find-concerns.ts";

/** One definition as lists show it. */
export function agentCard(entry: RosterEntry, roster: Roster, tools: readonly AnyTool[]): AgentCard {
  const { agent, source, state, shadowedBy, name } = entry;
  const face = agent ? describeFace(agent) : { name, displayName: name, icon: null, color: null };
  return {
    ...face,
    description: agent?.description ?? "",
    model: agent?.model ?? "inherit",
    aliases: agent?.aliases ?? [],
    format: source.format,
    scope: source.scope,
    file: source.file === undefined ? null : shownPath(source.file, roster.projectDir),
    isEditable: isEditable(entry),
    state,
    shadowedBy: shadowedBy ? namePlace(shadowedBy.source.file, roster) : null,
    health: countProblems(entry.problems),
    tools: agent?.tools ?? null,
    subagents: agent?.subagents?.allow ?? null,
    concerns: agent && state !== "broken" ? tryConcerns(agent, roster, tools) : [],
  };
}

/** Every definition of a project, those in use first. */
export function agentList(roster: Roster, tools: readonly AnyTool[]): AgentList {
  const { entries, project, projectDir } = roster;
  const files = new Set(entries.map(({ source }) => source.file));
  return {
    agents: entries.map((entry) => agentCard(entry, roster, tools)),
    problems: project.problems
      .filter(({ file }) => !files.has(file))
      .map((each) => shownProblem(each, projectDir)),
    folders: (["project", "user"] as const).map((scope) => ({
      scope,
      path: shownPath(findAgentFolder(project, projectDir, scope), projectDir),
    })),
  };
}

/** A problem with its file as people name it. */
export function shownProblem(problem: Problem, projectDir: string): Problem {
  return { ...problem, file: shownPath(problem.file, projectDir) };
}

/** Settings that cannot be read leave nothing to judge rights by. */
function tryConcerns(
  agent: Parameters<typeof findConcerns>[0],
  { project }: Roster,
  tools: readonly AnyTool[],
): string[] {
  try {
    return findConcerns(agent, project, tools);
  } catch {
    return [];
  }
}

function namePlace(file: string | undefined, { projectDir }: Roster): string {
  return file === undefined ? "the settings or the command line" : shownPath(file, projectDir);
}
