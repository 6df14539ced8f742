import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { agentFolders, isEditable, type Roster, type RosterEntry, shownPath } from "./agent-roster.ts";

/** A file that is to be written. */
export type Place = { roster: Roster; entry: RosterEntry | null; path: string; scope: string };

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
  if (scope === "project" && !isBelow(await realPlace(projectDir), real)) return false;
  const folders = agentFolders(project, projectDir).filter((folder) => folder.scope === scope);
  const roots = await Promise.all(folders.map(({ dir }) => realPlace(dir)));
  return roots.some((root) => isBelow(root, real));
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
