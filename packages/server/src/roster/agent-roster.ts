import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, relative, sep } from "node:path";
import type { Project } from "@retinue/builtin/load-project";
import { listPlaces } from "@retinue/core/agents/find-agent-files";
import { isBroken } from "@retinue/core/agents/registry";
import { isBelow } from "@retinue/core/files/is-below";
import type { Agent, AgentSource, BrokenAgent, Problem } from "@retinue/core/schema/agent";
import type { EntryChoice } from "@retinue/core/schema/api/agent";
import { NotFound } from "../http/http-errors.ts";

type Definition = Pick<Agent, "name" | "source">;

/** One definition that the project has, whether it can be used or not. */
export type RosterEntry = {
  readonly name: string;
  /** Absent for a file of which no agent can be made. */
  readonly agent: Agent | undefined;
  readonly source: AgentSource;
  readonly state: "enabled" | "disabled" | "shadowed" | "broken";
  readonly shadowedBy: Definition | undefined;
  /** Of its own file. */
  readonly problems: readonly Problem[];
};

/** Everything that is defined in a project. */
export type Roster = {
  readonly project: Project;
  readonly projectDir: string;
  readonly entries: readonly RosterEntry[];
};

/** Every definition of a project as it was last read. */
export function readRoster(project: Project, projectDir: string): Roster {
  const { registry, problems } = project;
  const of = (one: Agent | BrokenAgent): readonly Problem[] => {
    if (one.source.format !== "settings") return problems.filter(({ file }) => file === one.source.file);
    return isBroken(one) ? [one.problem] : [];
  };
  const entry = (
    one: Agent | BrokenAgent,
    state: RosterEntry["state"],
    shadowedBy?: Definition,
  ): RosterEntry => {
    const { name, source } = one;
    const agent = isBroken(one) ? undefined : one;
    return { name, agent, source, state: agent ? state : "broken", shadowedBy, problems: of(one) };
  };
  const entries = [
    ...registry.list().map((agent) => entry(agent, "enabled")),
    ...registry.disabled.map((agent) => entry(agent, "disabled")),
    ...registry.shadowed.map(({ agent, by }) => entry(agent, "shadowed", by)),
    ...registry.broken.map((broken) => entry(broken, "broken")),
  ];
  return { project, projectDir, entries };
}

/** The folders of project and user in which agents are looked for, in order of precedence. */
export function agentFolders({ places }: Pick<Project, "places">, projectDir: string) {
  return listPlaces({ projectDir, homeDir: places.homeDir, configHome: places.configHome });
}

/** A path as people name it: below the project, or below their home. */
export function shownPath(path: string, projectDir: string): string {
  if (path !== projectDir && isBelow(path, projectDir)) return relative(projectDir, path);
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
  const inUse = named.filter(({ state, shadowedBy }) => state !== "shadowed" && !shadowedBy);
  const [found] = [...inUse, ...named, ...byAlias];
  if (found) return found;
  const more = choice.scope || choice.file ? " in that place" : "";
  throw new NotFound(`${project.registry.unknownAgentMessage(name)}${more}`, "see GET /api/agents");
}

/** A file to be written. */
type Place = { roster: Roster; entry: RosterEntry | null; path: string; scope: string };

/** Why a file cannot be written where it is, in sentences; none if it can. */
export async function whyNotWritable({ roster, entry, path, scope }: Place): Promise<string[]> {
  const shown = shownPath(path, roster.projectDir);
  if (entry && !isEditable(entry)) {
    const what =
      entry.source.scope === "builtin" ? "is built in" : "does not come from a file of an agent folder";
    return [`'${entry.name}' ${what}; make a copy of it in the project, which takes its place.`];
  }
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (entry === null && isThere) return [`${shown} is there already.`];
  const real = await realPlace(path);
  const isInside = await liesInside(real, { roster, scope });
  return isInside ? [] : [`${shown} really lies elsewhere, outside of the agent folders; edit it there.`];
}

/** The real path of a file, or of where it would be. */
export async function realPlace(path: string): Promise<string> {
  for (let at = path, rest = ""; ; rest = at.slice(dirname(at).length) + rest, at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null) return real + rest;
    if (dirname(at) === at) return path;
  }
}

/** A project's agents have to lie in the project, whatever its folders link to. */
async function liesInside(
  real: string,
  { roster, scope }: Pick<Place, "roster" | "scope">,
): Promise<boolean> {
  const { project, projectDir } = roster;
  if (scope === "project" && !isBelow(real, await realPlace(projectDir))) return false;
  const folders = agentFolders(project, projectDir).filter((folder) => folder.scope === scope);
  const roots = await Promise.all(folders.map(({ dir }) => realPlace(dir)));
  return roots.some((root) => isBelow(real, root));
}
