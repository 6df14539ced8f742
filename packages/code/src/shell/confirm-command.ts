import { lstat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import type { EarlierCall } from "@retinue/core/tools/tool";
import { cutFolder } from "./command-words.ts";
import { findLost, hasInGit, openFolders, type PlannedCommand } from "./find-lost.ts";
import { type Hazards, readHazards, type UnreadText } from "./read-hazards.ts";

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
    ...hazards.runs.map(describeUnread),
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
  if (drops.length > 0) losses.push(`it throws away what git keeps apart (${nameSome(drops)})`);
  const unknown = hazards.deletesUnknown.map((program) => `by ${program}`);
  if (unknown.length > 0)
    return [...losses, `it deletes files that are known only when it runs (${nameSome(unknown)})`];
  if (deletes.length + empties.length + moves.length + discards.length === 0) return losses;
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
  for (const file of runsFiles) {
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
  { inputs, folders, writes }: Hazards,
  { projectDir, cwd, dataDir }: PlannedCommand,
): Promise<string[]> {
  const bases = openFolders(cwd, folders) ?? [cwd];
  const unread: string[] = [];
  for (const file of inputs) {
    const paths = bases.map((base) => resolve(base, file));
    const known = await Promise.all(paths.map((path) => hasInGit(path, projectDir, dataDir)));
    const isThere = await Promise.all(paths.map(exists));
    const isMade = writes.includes(cutFolder(file));
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
    const { brings, writes, mentions, unpacks } = readOnce(call);
    const handles = mentions.some((name) => fetched.names.has(name) || fetched.folders.has(name));
    if (!brings && !handles) continue;
    for (const name of [...(brings?.names ?? []), ...(handles ? writes : [])]) fetched.names.add(name);
    for (const name of brings?.folders ?? []) fetched.folders.add(name);
    for (const place of brings?.from ?? []) fetched.from.add(place);
    // Where a name is not known, whatever the command left behind counts.
    if (brings?.isUnnamed || unpacks) for (const path of call.files) fetched.paths.add(path);
  }
  return fetched;
}
