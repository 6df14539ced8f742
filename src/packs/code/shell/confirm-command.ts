import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Roots } from "../../../tools/tool.ts";
import { worktreesIn } from "../git/git-folder.ts";
import { openRepository, runGit } from "../git/run-git.ts";
import { isBelow } from "./below.ts";
import { type Hazards, readHazards, type Unread } from "./read-hazards.ts";

/** A command before it runs, and where. */
export type PlannedCommand = Roots & {
  readonly command: string;
  readonly cwd: string;
  /** It cannot touch anything but the project and the workspace. */
  readonly sandboxed: boolean;
  /** Where Retinue keeps its own worktrees. */
  readonly dataDir?: string | undefined;
};

const MAX_NAMED = 5;
const SPECIAL = /[*?[{]/;

/**
 * Why a person should confirm a command: it deletes files that git does not track, or runs text that nobody could
 * read before. Null if there is no such reason, as for nearly all commands.
 */
export async function confirmCommand(planned: PlannedCommand): Promise<string | null> {
  const hazards = readHazards(planned.command);
  const reasons = [...hazards.runs.map(describeUnread), await describeDeletion(hazards, planned)];
  return reasons.filter((reason) => reason !== null).join("; ") || null;
}

function describeUnread({ by, from }: Unread): string {
  const named = nameSome(from);
  return by === "download"
    ? `it runs what it downloads, unread, from ${named}`
    : `it runs a text that cannot be read before (${named})`;
}

async function describeDeletion(hazards: Hazards, planned: PlannedCommand): Promise<string | null> {
  const unknown = hazards.deletesUnknown.map((program) => `by ${program}`);
  if (unknown.length > 0) return `it deletes files that are known only when it runs (${nameSome(unknown)})`;
  if (hazards.deletes.length + hazards.empties.length + hazards.moves.length === 0) return null;
  const lost = await findLost(hazards, planned);
  return lost.length > 0
    ? `it deletes files that git does not track and cannot bring back: ${nameSome(lost)}`
    : null;
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/** A place that loses what is there: exactly this path, or what matches below it. */
type Place = {
  readonly path: string;
  /** The rest of the name from its first special character on. */
  readonly pattern: string | null;
  readonly mode: "deleted" | "emptied";
  readonly exists: boolean;
};

/** What would be gone for good, by names relative to the project where they lie in it. */
async function findLost(hazards: Hazards, planned: PlannedCommand): Promise<string[]> {
  const projectDir = await realpath(planned.projectDir);
  const workspaceDir = await realpath(planned.workspaceDir).catch(() => planned.workspaceDir);
  const bases = openFolders(planned.cwd, hazards.folders);
  if (!bases) return hazards.deletes.length > 0 ? ["files in a folder that is known only when it runs"] : [];
  const isInside = (path: string) => isBelow(path, projectDir) || isBelow(path, workspaceDir);
  const places = await locate(hazards, bases, isInside);
  const moved = await movedInto(hazards, bases);
  const inProject: Place[] = [];
  const lost = new Set<string>();
  for (const place of places) {
    const name = isBelow(place.path, projectDir) ? relative(projectDir, place.path) || "." : place.path;
    if (place.mode === "deleted" && moved.some((to) => isBelow(place.path, to) || isBelow(to, place.path)))
      lost.add(`${name}, where it moves files to`);
    else if (!place.exists) continue;
    else if (!isInside(place.path)) {
      if (!planned.sandboxed) lost.add(name);
    } else if (!isBelow(place.path, projectDir)) lost.add(name);
    else if (name.split(sep).includes(".git")) lost.add(name);
    else inProject.push(place);
  }
  for (const name of await findUntracked(inProject, projectDir, planned.dataDir)) lost.add(name);
  return [...lost].toSorted();
}

/** Every folder that a name may be relative to; null if one is known only when the command runs. */
function openFolders(cwd: string, folders: readonly string[]): string[] | null {
  if (folders.some((folder) => SPECIAL.test(folder))) return null;
  const bases = new Set([cwd]);
  for (const folder of folders) for (const base of [...bases]) bases.add(resolve(base, atHome(folder)));
  return [...bases];
}

/** Where the names point to. A move out of reach takes files away as a deletion does. */
async function locate(
  { deletes, empties, moves }: Hazards,
  bases: readonly string[],
  isInside: (path: string) => boolean,
): Promise<Place[]> {
  const away = moves.filter(({ to }) => isAbsolute(atHome(to)) && !isInside(resolve(atHome(to))));
  const names = [
    ...[...deletes, ...away.flatMap(({ from }) => from)].map((name) => ({ name, mode: "deleted" as const })),
    ...empties.map((name) => ({ name, mode: "emptied" as const })),
  ];
  const places: Place[] = [];
  for (const base of bases) {
    for (const { name, mode } of names) places.push({ ...(await toPlace(name, base)), mode });
  }
  return places;
}

/** The folders of a path have their links followed, and so has the path itself if the name goes through it. */
async function toPlace(name: string, base: string): Promise<Omit<Place, "mode">> {
  const at = name.search(SPECIAL);
  const stem = at < 0 ? name : name.slice(0, name.lastIndexOf("/", at) + 1);
  const pattern = at < 0 ? null : name.slice(stem.length);
  const path = resolve(base, atHome(stem));
  const isGoneThrough = pattern !== null || /(?:^|\/)\.{0,2}$/.test(name);
  try {
    if (isGoneThrough) return { path: await realpath(path), pattern, exists: true };
    const real = join(await realpath(dirname(path)), basename(path));
    const exists = await lstat(real).then(
      () => true,
      () => false,
    );
    return { path: real, pattern, exists };
  } catch {
    return { path, pattern, exists: false };
  }
}

/** Where moves and links of the same command put things: what is deleted there is not what is there now. */
async function movedInto({ moves }: Hazards, bases: readonly string[]): Promise<string[]> {
  const targets = moves.flatMap(({ to }) =>
    bases.map((base) => resolve(base, SPECIAL.test(to) ? "." : atHome(to))),
  );
  return Promise.all(
    targets.map(async (to) => join(await realpath(dirname(to)).catch(() => dirname(to)), basename(to))),
  );
}

function atHome(name: string): string {
  return name === "~" || name.startsWith("~/") ? join(homedir(), name.slice(1)) : name;
}

/** What of these places git does not have; of emptied ones, what no snapshot of Retinue has, either. */
async function findUntracked(
  places: readonly Place[],
  projectDir: string,
  dataDir?: string,
): Promise<string[]> {
  if (places.length === 0) return [];
  const signal = AbortSignal.timeout(60_000);
  const names = places.map((place) => relative(projectDir, place.path) || ".");
  const repository = await openRepository(projectDir, {
    signal,
    allowGitDir: dataDir === undefined ? undefined : worktreesIn(dataDir),
  }).catch(() => null);
  // Without a repository nothing is tracked.
  if (!repository) return names;
  const list = async (mode: Place["mode"], more: readonly string[]) => {
    const specs = places
      .filter((place) => place.mode === mode)
      .flatMap((place) => toPathspecs(place, projectDir));
    if (specs.length === 0) return [];
    const args = [
      "ls-files",
      "--others",
      "--directory",
      "--no-empty-directory",
      "-z",
      ...more,
      "--",
      ...specs,
    ];
    const { stdout } = await runGit(repository, args, { signal, literal: false });
    return stdout.split("\0").filter((name) => name !== "");
  };
  try {
    const ignored = await list("emptied", ["--ignored", "--exclude-standard"]);
    return [...(await list("deleted", [])), ...ignored];
  } catch {
    return names;
  }
}

function toPathspecs({ path, pattern }: Place, projectDir: string): string[] {
  const name = relative(projectDir, path).replaceAll(sep, "/");
  if (pattern === null) return [`:(top,literal)${name}`];
  // Braces are the shell's own; whatever lies in the folder could be meant.
  if (pattern.includes("{") || pattern.includes("(")) return [`:(top,literal)${name}`];
  const folder = name === "" ? "" : `${name.replace(/[*?[\\]/g, "\\$&")}/`;
  return [`:(top,glob)${folder}${pattern}`, `:(top,glob)${folder}${pattern}/**`];
}
