import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { type AgentFile, listPlaces } from "../../agents/find-agent-files.ts";
import { loadAgentFile } from "../../agents/load-agents.ts";
import type { Project } from "../../runtime/project/load-project.ts";
import type { Agent, AgentSource, Problem } from "../../schema/agent.ts";
import { NotFound } from "../api/route.ts";

/** One definition that the project has, whether it can be used or not. */
export type RosterEntry = {
  readonly name: string;
  /** Absent for a file of which no agent can be made. */
  readonly agent: Agent | undefined;
  readonly source: AgentSource;
  readonly state: "enabled" | "disabled" | "shadowed" | "broken";
  readonly shadowedBy: Agent | undefined;
  /** Of its own file. */
  readonly problems: readonly Problem[];
};

/** Everything that is defined in a project. */
export type Roster = {
  readonly project: Project;
  readonly projectDir: string;
  readonly entries: readonly RosterEntry[];
};

/** Which of several definitions of one name is meant. */
export type EntryChoice = { scope?: string | undefined; file?: string | undefined };

/** Every definition of a project as it was last read. */
export async function readRoster(project: Project, projectDir: string): Promise<Roster> {
  const { registry, problems } = project;
  const of = (agent: Agent): readonly Problem[] =>
    agent.source.format === "settings" ? [] : problems.filter(({ file }) => file === agent.source.file);
  const entry = (agent: Agent, state: RosterEntry["state"], shadowedBy?: Agent): RosterEntry => {
    return { name: agent.name, agent, source: agent.source, state, shadowedBy, problems: of(agent) };
  };
  const sound = [
    ...registry.list().map((agent) => entry(agent, "enabled")),
    ...registry.disabled.map((agent) => entry(agent, "disabled")),
    ...registry.shadowed.map(({ agent, by }) => entry(agent, "shadowed", by)),
  ];
  return { project, projectDir, entries: [...sound, ...(await brokenEntries(project, projectDir, sound))] };
}

/** Files of which no agent could be made, by the name they would have had. */
async function brokenEntries(
  project: Project,
  projectDir: string,
  sound: readonly RosterEntry[],
): Promise<RosterEntry[]> {
  const used = new Set(sound.map(({ source }) => source.file));
  const errors = project.problems.filter(({ severity, file }) => severity === "error" && !used.has(file));
  const broken: RosterEntry[] = [];
  for (const path of new Set(errors.map(({ file }) => file))) {
    const file = agentFileAt(path, project, projectDir);
    if (file === null) continue;
    const { name, agent } = await loadAgentFile(file, project.known);
    const { format, scope } = file;
    const problems = project.problems.filter((problem) => problem.file === path);
    const source = { format, scope, file: path };
    broken.push({ name, agent, source, state: "broken", shadowedBy: project.registry.get(name), problems });
  }
  return broken;
}

function agentFileAt(path: string, project: Project, projectDir: string): AgentFile | null {
  if (!path.toLowerCase().endsWith(".md")) return null;
  const place = agentFolders(project, projectDir).find(({ dir }) => path.startsWith(`${dir}${sep}`));
  return place ? { path, format: place.format, scope: place.scope } : null;
}

/** The folders of project and user in which agents are looked for, in order of precedence. */
export function agentFolders({ places }: Pick<Project, "places">, projectDir: string) {
  return listPlaces({ projectDir, homeDir: places.homeDir, configHome: places.configHome });
}

/** The folder that new agents of a scope go to. */
export function folderFor(
  { places }: Pick<Project, "places">,
  projectDir: string,
  scope: "project" | "user",
): string {
  return scope === "project" ? join(projectDir, ".retinue", "agents") : join(places.configDir, "agents");
}

/** A path as people name it: below the project, or below their home. */
export function shownPath(path: string, projectDir: string): string {
  const inside = relative(projectDir, path);
  if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`)) return inside;
  const home = homedir();
  return path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

/** Whether a definition is a file of the project's or the user's agent folders. */
export function isEditable({ source }: Pick<RosterEntry, "source">): boolean {
  const isFile = source.file !== undefined && source.format !== "settings" && source.format !== "code";
  return isFile && (source.scope === "project" || source.scope === "user");
}

/** The definition that a name or alias means; the choice tells shadowed and broken ones apart. */
export function findEntry(roster: Roster, name: string, choice: EntryChoice = {}): RosterEntry {
  const { entries, projectDir, project } = roster;
  const fits = ({ source }: RosterEntry): boolean =>
    (choice.scope === undefined || choice.scope === source.scope) &&
    (choice.file === undefined ||
      (source.file !== undefined && choice.file === shownPath(source.file, projectDir)));
  const named = entries.filter((entry) => entry.name === name && fits(entry));
  const byAlias = entries.filter((entry) => entry.agent?.aliases.includes(name) && fits(entry));
  const [found] = [...named, ...byAlias];
  if (found) return found;
  const more = choice.scope || choice.file ? " in that place" : "";
  throw new NotFound(`${project.registry.unknownAgentMessage(name)}${more}`, "see GET /api/agents");
}
