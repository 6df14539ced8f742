import { dirname, relative } from "node:path";
import type { Agent, AgentFormat } from "../../schema/agent.ts";
import { countOf } from "../measures.ts";
import type { OpenProject } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";

/** Agents of one program in one folder, which work here as they are. */
export type FoundAgents = { from: string; scope: "project" | "user"; folder: string; names: string[] };

const PROGRAMS: Readonly<Partial<Record<AgentFormat, string>>> = {
  native: "Retinue",
  claude: "Claude Code",
  opencode: "opencode",
  copilot: "GitHub Copilot",
  gemini: "Gemini CLI",
};

/** What is there already, in the project and in the user's home. */
export function foundAgents({ registry, projectDir }: OpenProject): FoundAgents[] {
  const own = registry.list().filter(({ source }) => source.scope === "project" || source.scope === "user");
  const groups = Map.groupBy(own, ({ source }) => `${source.scope} ${source.format}`);
  const found = [...groups.values()].flatMap((agents) => {
    const [first] = agents;
    return first ? [groupOf(first, agents, projectDir)] : [];
  });
  return found.toSorted((a, b) => `${a.scope} ${a.from}`.localeCompare(`${b.scope} ${b.from}`));
}

/** The same for a person. */
export function describeFound({ from, folder, names }: FoundAgents): string {
  const shown = names.slice(0, 8).join(", ");
  const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
  return `${countOf(names.length, "agent")} of ${from} in ${folder}: ${plainLine(shown, 300)}${more}`;
}

function groupOf({ source }: Agent, agents: readonly Agent[], projectDir: string): FoundAgents {
  const folder = source.file ? dirname(source.file) : "the settings";
  const scope = source.scope === "user" ? "user" : "project";
  return {
    from: PROGRAMS[source.format] ?? "your settings",
    scope,
    folder: scope === "project" && source.file ? relative(projectDir, folder) || "." : folder,
    names: agents.map(({ name }) => name),
  };
}
