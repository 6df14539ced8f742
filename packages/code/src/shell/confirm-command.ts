import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { worktreesIn } from "@retinue/core/git/git-folder";
import type { EarlierCall, Roots } from "@retinue/core/tools/tool";
import { openForCall } from "../repository/call-repository.ts";
import { cutFolder } from "./command-words.ts";
import type { Hazards } from "./hazards.ts";
import {
  describeBrought,
  isFileName,
  listUnreadTexts,
  readHazards,
  type UnreadText,
} from "./read-hazards.ts";

const MAX_NAMED = 5;

/**
 * Why a person should confirm a command: it loses what git does not have, or runs text that nobody could read before,
 * which an earlier command may have brought. Null if there is no such reason, as for nearly all commands.
 */
export async function confirmCommand(
  planned: PlannedCommand,
  earlier: readonly EarlierCall<{ command: string }>[] = [],
): Promise<string | null> {
  const hazards = readHazards(planned.command, gatherNames(earlier));
  const fetched = await findFetched(hazards, planned, earlier);
  const unread = await findUnread(hazards, planned);
  const reasons = [
    ...listUnreadTexts(hazards).map(describeUnread),
    ...(unread.length > 0 ? [describeUnread({ by: "decoding", from: unread })] : []),
    ...describeFetched(fetched),
    ...(await describeLosses(hazards, planned)),
  ];
  return reasons.join("; ") || null;
}

function describeUnread({ by, from }: UnreadText): string {
  const named = nameSome(from);
  if (by === "download") return `it runs what it downloads, unread, from ${named}`;
  if (by === "package") return `it installs a package, which may run what nobody has read, from ${named}`;
  return `it runs a text that cannot be read before (${named})`;
}

function describeFetched({ files, from }: Awaited<ReturnType<typeof findFetched>>): string[] {
  if (files.length === 0) return [];
  return [`it runs what an earlier command brought, unread, from ${nameSome(from)}: ${nameSome(files)}`];
}

async function describeLosses(hazards: Hazards, planned: PlannedCommand): Promise<string[]> {
  const { deletes, empties, moves, discards, drops } = hazards;
  const losses: string[] = [];
  if (drops.size > 0) losses.push(`it throws away what git keeps apart (${nameSome([...drops])})`);
  const unknown = [...hazards.deletesUnknown].map((program) => `by ${program}`);
  if (unknown.length > 0)
    return [...losses, `it deletes files that are known only when it runs (${nameSome(unknown)})`];
  if (deletes.size + empties.size + moves.length + discards.size === 0) return losses;
  const { untracked, changed } = await findLost(hazards, planned);
  if (untracked.length > 0)
    losses.push(`it deletes files that git does not track and cannot bring back: ${nameSome(untracked)}`);
  if (changed.length > 0) losses.push(`it loses changes that are not committed: ${nameSome(changed)}`);
  return losses;
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/** What earlier commands of a session brought from outside, or decoded, and where it lies now. */
type Fetched = {
  /** Names of files, without their folders. */
  readonly names: Set<string>;
  /** Names of folders; all that is below them counts. */
  readonly folders: Set<string>;
  /** Whole paths of files. */
  readonly paths: Set<string>;
  /** Where it came from. */
  readonly from: Set<string>;
};

/** Files that a command runs although an earlier one of the session brought them and nobody has read them since. */
async function findFetched(
  { runsFiles, programs, runsText, mentions, folders }: Hazards,
  planned: PlannedCommand,
  earlier: readonly EarlierCall<{ command: string }>[],
): Promise<{ files: readonly string[]; from: readonly string[] }> {
  const { projectDir, cwd, dataDir } = planned;
  if (earlier.length === 0) return { files: [], from: [] };
  const fetched = gatherFetched(earlier);
  const found = new Set(
    [...programs, ...(runsText ? mentions : [])].filter((name) => fetched.names.has(name)),
  );
  for (const file of [...runsFiles].filter((each) => each !== null)) {
    for (const base of openFolders(cwd, folders) ?? [cwd]) {
      const path = resolve(base, file);
      if (fetched.paths.has(path)) found.add(file);
      else if (isNamed(path, fetched, projectDir) && !(await hasInGit(path, projectDir, dataDir)))
        found.add(file);
    }
  }
  return { files: [...found], from: [...fetched.from] };
}

function isNamed(path: string, { names, folders }: Fetched, projectDir: string): boolean {
  const parts = (isBelow(path, projectDir) ? relative(projectDir, path) : path).split("/");
  return names.has(cutFolder(path)) || parts.some((part) => folders.has(part));
}

/** The programs that names stand for which earlier commands of the session gave to copies and links. */
function gatherNames(earlier: readonly EarlierCall<{ command: string }>[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const call of earlier)
    for (const { from, to } of readOnce(call).copies) names.set(to, names.get(from) ?? from);
  return names;
}

/** Files whose text would be run although git does not have it, so that nobody may have looked at it. */
async function findUnread(
  { inputs, folders, written }: Hazards,
  { projectDir, cwd, dataDir }: PlannedCommand,
): Promise<string[]> {
  const bases = openFolders(cwd, folders) ?? [cwd];
  const unread: string[] = [];
  for (const file of inputs) {
    const paths = bases.map((base) => resolve(base, file));
    const known = await Promise.all(paths.map((path) => hasInGit(path, projectDir, dataDir)));
    const isThere = await Promise.all(paths.map(exists));
    const isMade = written.has(cutFolder(file));
    if (!known.includes(true) && (isMade || isThere.includes(true))) unread.push(file);
  }
  return unread;
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** What earlier commands say, which each later one of a session asks again. */
const known = new WeakMap<EarlierCall<{ command: string }>, Hazards>();

function readOnce(call: EarlierCall<{ command: string }>): Hazards {
  const hazards = known.get(call) ?? readHazards(call.input.command);
  known.set(call, hazards);
  return hazards;
}

/** Follows downloads from command to command: a command that is given one may move it. */
function gatherFetched(earlier: readonly EarlierCall<{ command: string }>[]): Fetched {
  const fetched: Fetched = { names: new Set(), folders: new Set(), paths: new Set(), from: new Set() };
  for (const call of earlier) {
    const hazards = readOnce(call);
    const brings = describeBrought(hazards);
    const handles = [...hazards.mentions].some(
      (name) => fetched.names.has(name) || fetched.folders.has(name),
    );
    if (!brings && !handles) continue;
    const moved = handles ? [...hazards.written].filter(isFileName) : [];
    for (const name of [...(brings?.names ?? []), ...moved]) fetched.names.add(name);
    for (const name of brings?.folders ?? []) fetched.folders.add(name);
    for (const place of brings?.from ?? []) fetched.from.add(place);
    // Where a name is not known, whatever the command left behind counts.
    if (brings?.isUnnamed || hazards.unpacks) for (const path of call.files) fetched.paths.add(path);
  }
  return fetched;
}

/** A command before it runs, and where. */
type PlannedCommand = Roots & {
  readonly command: string;
  readonly cwd: string;
  /** It cannot touch anything but the project and the workspace. */
  readonly sandboxed: boolean;
  /** Where Retinue keeps its own worktrees. */
  readonly dataDir?: string | undefined;
};

const SPECIAL = /[*?[{]/;
const UNKNOWN_FOLDER = "files in a folder that is known only when it runs";
const NOTHING: LostFiles = { untracked: [], changed: [] };
const OTHERS = ["ls-files", "--others", "--directory", "--no-empty-directory"];
/** A file that is gone already has no changes to lose. */
const CHANGES = ["diff", "--name-only", "--no-renames", "--diff-filter=ACMTUX", "--no-ext-diff"];

/** A place that loses what is there: exactly this path, or what matches below it. */
type LostPlace = {
  readonly path: string;
  /** The rest of the name from its first special character on. */
  readonly pattern: string | null;
  readonly mode: "deleted" | "emptied" | "discarded";
  readonly exists: boolean;
};

/** What a command would lose for good: files that git does not have, and changes that it does not have yet. */
type LostFiles = { readonly untracked: readonly string[]; readonly changed: readonly string[] };

/** What would be gone for good, by names relative to the project where they lie in it. */
async function findLost(hazards: Hazards, planned: PlannedCommand): Promise<LostFiles> {
  const projectDir = await realpath(planned.projectDir);
  const workspaceDir = await realpath(planned.workspaceDir).catch(() => planned.workspaceDir);
  const bases = openFolders(planned.cwd, hazards.folders);
  if (!bases)
    return {
      untracked: hazards.deletes.size > 0 ? [UNKNOWN_FOLDER] : [],
      changed: hazards.discards.size > 0 ? [UNKNOWN_FOLDER] : [],
    };
  const isInside = (path: string) => isBelow(path, projectDir) || isBelow(path, workspaceDir);
  const places = await locateLosses(hazards, bases, { projectDir, isInside });
  const moved = await findMoveTargets(hazards, bases);
  const inProject: LostPlace[] = [];
  const lost = new Set<string>();
  const elsewhere: string[] = [];
  for (const place of places) {
    const name = isBelow(place.path, projectDir) ? relative(projectDir, place.path) || "." : place.path;
    if (place.mode === "deleted" && moved.some((to) => isBelow(place.path, to) || isBelow(to, place.path)))
      lost.add(`${name}, where it moves files to`);
    else if (!place.exists) continue;
    else if (place.mode === "discarded" && !isBelow(place.path, projectDir)) {
      if (!planned.sandboxed) elsewhere.push(place.path);
    } else if (place.mode === "discarded") inProject.push(place);
    else if (!isInside(place.path)) {
      if (!planned.sandboxed) lost.add(name);
    } else if (!isBelow(place.path, projectDir)) lost.add(name);
    else if (name.split(sep).includes(".git")) lost.add(name);
    else inProject.push(place);
  }
  const found = await lookUpInGit(inProject, projectDir, planned.dataDir);
  return {
    untracked: [...new Set([...lost, ...found.untracked])].toSorted(),
    changed: [...new Set([...elsewhere, ...found.changed])].toSorted(),
  };
}

/** Whether git has a file exactly as it is. */
async function hasInGit(path: string, projectDir: string, dataDir?: string): Promise<boolean> {
  const real = await realpath(path).catch(() => null);
  const project = await realpath(projectDir);
  if (real === null || !isBelow(real, project)) return false;
  const place: LostPlace = { path: real, pattern: null, mode: "deleted", exists: true };
  const { untracked, changed } = await lookUpInGit([place], project, dataDir);
  return untracked.length + changed.length === 0;
}

/** Every folder that a name may be relative to; null if one is known only when the command runs. */
function openFolders(cwd: string, folders: ReadonlySet<string>): string[] | null {
  if ([...folders].some((folder) => SPECIAL.test(folder))) return null;
  const bases = new Set([cwd]);
  for (const folder of folders) for (const base of [...bases]) bases.add(resolve(base, expandHome(folder)));
  return [...bases];
}

/** Where the names point to. A move out of reach takes files away as a deletion does. */
async function locateLosses(
  { deletes, empties, moves, discards }: Hazards,
  bases: readonly string[],
  { projectDir, isInside }: { projectDir: string; isInside: (path: string) => boolean },
): Promise<LostPlace[]> {
  const away = moves.filter(({ to }) => isAbsolute(expandHome(to)) && !isInside(resolve(expandHome(to))));
  const names = [
    ...[...deletes, ...away.flatMap(({ from }) => from)].map((name) => ({ name, mode: "deleted" as const })),
    ...[...empties].map((name) => ({ name, mode: "emptied" as const })),
    ...[...discards].map((name) => ({ name, mode: "discarded" as const })),
  ];
  const places: LostPlace[] = [];
  for (const base of bases) {
    for (const { name, mode } of names) {
      // Git's own way to say the top of the repository, or anything else that is no plain path.
      const isMagic = mode === "discarded" && name.startsWith(":");
      const place = isMagic
        ? { path: isBelow(base, projectDir) ? projectDir : base, pattern: null, exists: true }
        : await toPlace(name, base, mode);
      places.push({ ...place, mode });
    }
  }
  return places;
}

/** The folders of a path have their links followed, and so has the path itself if the name goes through it. */
async function toPlace(
  name: string,
  base: string,
  mode: LostPlace["mode"],
): Promise<Omit<LostPlace, "mode">> {
  const at = name.search(SPECIAL);
  const stem = at < 0 ? name : name.slice(0, name.lastIndexOf("/", at) + 1);
  const pattern = at < 0 ? null : name.slice(stem.length);
  const path = resolve(base, expandHome(stem));
  const isGoneThrough = pattern !== null || /(?:^|\/)\.{0,2}$/.test(name);
  try {
    // A folder cannot be emptied by writing to it; what is moved there leaves the rest alone.
    if (isGoneThrough)
      return { path: await realpath(path), pattern, exists: mode !== "emptied" || pattern !== null };
    const real = join(await realpath(dirname(path)), basename(path));
    const stats = await lstat(real).catch(() => null);
    return { path: real, pattern, exists: mode === "emptied" ? stats?.isFile() === true : stats !== null };
  } catch {
    return { path, pattern, exists: false };
  }
}

/** Where moves and links of the same command put things: what is deleted there is not what is there now. */
async function findMoveTargets({ moves }: Hazards, bases: readonly string[]): Promise<string[]> {
  const targets = moves.flatMap(({ to }) =>
    bases.map((base) => resolve(base, SPECIAL.test(to) ? "." : expandHome(to))),
  );
  return Promise.all(
    targets.map(async (to) => join(await realpath(dirname(to)).catch(() => dirname(to)), basename(to))),
  );
}

function expandHome(name: string): string {
  if (name === "~+" || name.startsWith("~+/")) return `.${name.slice(2)}`;
  return name === "~" || name.startsWith("~/") ? join(homedir(), name.slice(1)) : name;
}

/**
 * What of these places git does not have: files that it does not track, of emptied ones only those that no snapshot of
 * Retinue has, either; and changes that are in neither a commit nor, where the command leaves it alone, the index.
 */
async function lookUpInGit(
  places: readonly LostPlace[],
  projectDir: string,
  dataDir?: string,
): Promise<LostFiles> {
  if (places.length === 0) return NOTHING;
  const signal = AbortSignal.timeout(60_000);
  const nameAll = (some: readonly LostPlace[]) => some.map(({ path }) => relative(projectDir, path) || ".");
  const allowGitDir = dataDir === undefined ? undefined : worktreesIn(dataDir);
  const repository = await openForCall({ projectDir, signal }, allowGitDir).catch(() => null);
  // Without a repository nothing is tracked.
  if (!repository)
    return { untracked: nameAll(places.filter(({ mode }) => mode !== "discarded")), changed: [] };
  // What git cannot tell may be lost.
  const list = async (mode: LostPlace["mode"], args: readonly string[]) => {
    const some = places.filter((place) => place.mode === mode);
    if (some.length === 0) return [];
    const specs = some.flatMap((place) => toPathspecs(place, projectDir));
    return repository.list([...args, "-z", "--", ...specs], { literal: false }).catch(() => nameAll(some));
  };
  return {
    untracked: [
      ...(await list("deleted", OTHERS)),
      ...(await list("emptied", [...OTHERS, "--ignored", "--exclude-standard"])),
    ],
    changed: [...(await list("deleted", CHANGES)), ...(await list("discarded", [...CHANGES, "HEAD"]))],
  };
}

function toPathspecs({ path, pattern }: LostPlace, projectDir: string): string[] {
  const name = relative(projectDir, path).replaceAll(sep, "/");
  if (pattern === null) return [`:(top,literal)${name}`];
  // Braces are the shell's own; whatever lies in the folder could be meant.
  if (pattern.includes("{") || pattern.includes("(")) return [`:(top,literal)${name}`];
  const folder = name === "" ? "" : `${name.replace(/[*?[\\]/g, "\\$&")}/`;
  return [`:(top,glob)${folder}${pattern}`, `:(top,glob)${folder}${pattern}/**`];
}
