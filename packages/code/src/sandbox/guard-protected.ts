import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInPackages } from "@retinue/core/files/hard-links";
import { isBelow } from "@retinue/core/files/is-below";
import {
  findGitHome,
  findRepositoriesAround,
  type GitPlace,
  readGitPlaces,
} from "@retinue/core/git/git-places";
import type { HostPlaces } from "@retinue/core/tools/tool";
import type { CommandRequest } from "../shell/command.ts";
import { mergePlaces } from "../shell/disk-rights.ts";
import { openJournal, readOthersBefore, settleLeftCommands } from "./command-journal.ts";
import { createHolder, holdPlaces, isHeld } from "./hold-places.ts";
import { cutDeepPath } from "./pin-path.ts";
import { HELD_NAMES } from "./protected-paths.ts";
import type { CommandSurroundings } from "./running-commands.ts";
import type { FirstProcess } from "./sandbox-end.ts";
import { type FolderScan, findSpelledFolder, type LinkedNames, scanFolders } from "./scan-folders.ts";
import { describeSurroundings } from "./settle-command.ts";

/** What keeps agent files, settings and git's own files as they are while a command may write around them. */
export type ProtectionGuard = {
  /** Stay read-only. */
  readonly closed: readonly string[];
  /** Must not be seen. */
  readonly hidden: readonly string[];
  /** Held by something empty, so that nothing can be made there. */
  readonly held: readonly string[];
  readonly notes: readonly string[];
  /** To be called when the sandbox is ready, before anything runs in it. */
  begin(first: FirstProcess, groups: readonly string[]): void;
  /** After the command: sets aside what was made all the same, says so, and leaves nothing of its own behind. Once. */
  settle(): Promise<string[]>;
};

/** Parts that a sandbox is put together from; of more, the folders around them are read-only as a whole. */
const MOST_MOUNTS = 400;

/**
 * Looks through everything that a command sees for what it may not change, or reach by a second name. Closed when in
 * doubt: what cannot be looked at cannot be written, and if the look itself fails, the command does not run.
 */
export async function guardProtected(request: CommandRequest, places: HostPlaces): Promise<ProtectionGuard> {
  const { projectDir, workspaceDir, writable } = request;
  const { dataDir } = places;
  const roots = [projectDir, workspaceDir];
  if (writable.length === 0) {
    const seen = closeFound(await scanFolders(roots), request);
    return { ...seen, closed: [], held: [], begin: () => {}, settle: async () => [] };
  }
  await settleLeftCommands(dataDir);
  // Nobody reads agent files in a workspace; what is made there is set aside in the end.
  const wanted = writable.includes(projectDir) ? HELD_NAMES.map((name) => join(projectDir, name)) : [];
  const holder = createHolder();
  const journal = openJournal(dataDir, { holder, roots, held: wanted });
  try {
    const hold = (paths: readonly string[], files?: ReadonlySet<string>) =>
      roots.flatMap((root) =>
        holdPlaces(
          root,
          paths.filter((path) => isBelow(path, root)),
          holder,
          files,
        ),
      );
    const held = new Set(hold(wanted));
    let others: readonly CommandSurroundings[] = [];
    let named: readonly GitPlace[] = [];
    const scan = await scanFolders(roots, journal.scan, (findNamed) => {
      others = readOthersBefore(dataDir, holder, roots);
      named = findGitPlaces(keepKnown(findNamed(), others), roots, places);
      return named.map(({ path }) => path);
    });
    // What others hold, deeper down, is held as well: it would be gone when they end.
    const more = [
      ...[...scan.protected.keys()].filter((path) => !held.has(path) && isHeld(path)),
      ...named.flatMap((place) => findPlaceToHold(place, request)),
    ];
    if (more.length > 0) {
      journal.note({ held: [...wanted, ...more] });
      const files = new Set(named.flatMap(({ path, isSettings }) => (isSettings ? [path] : [])));
      for (const path of hold(more, files)) held.add(path);
    }
    const found = { ...scan, protected: new Map([...scan.protected].filter(([path]) => !held.has(path))) };
    const namedByGit = named.map(({ path }) => path);
    const before = keepCommon(await describeSurroundings(found, roots, namedByGit), others);
    // Bubblewrap makes what it mounts on where that has vanished, also if the command then never begins.
    journal.note({ held: [...held], before });
    const seen = closeFound(found, request);
    return {
      ...seen,
      notes: [...seen.notes, ...explainGit(named)],
      held: [...held],
      begin: (first, groups) => journal.note({ first, groups }),
      settle: journal.settle,
    };
  } catch (thrown) {
    await journal.settle();
    throw thrown;
  }
}

/** Those that every other command that still runs found as well. */
function keepKnown(found: ReadonlyMap<string, string>, others: readonly CommandSurroundings[]): string[] {
  return [...found].flatMap(([path, identity]) =>
    others.every(({ existing }) => Object.hasOwn(existing, path) && existing[path] === identity)
      ? [path]
      : [],
  );
}

/** What git's settings name, by the repositories among what was found and around it. */
function findGitPlaces(found: readonly string[], roots: readonly string[], places: HostPlaces): GitPlace[] {
  const inside = found.flatMap((path) => {
    if (basename(path) === ".git") return [path];
    return basename(path) === "HEAD" ? [dirname(path)] : [];
  });
  const around = roots.flatMap((root) => findRepositoriesAround(dirname(root)));
  return readGitPlaces([...inside, ...around], roots, findGitHome(places));
}

/** What must be held where there is nothing: the place itself, or what is missing around it. */
function findPlaceToHold(
  { path }: GitPlace,
  { projectDir, workspaceDir, writable }: CommandRequest,
): string[] {
  const isMissing = (at: string) => !existsSync(at) || isHeld(at);
  if (!isMissing(path) || !writable.some((folder) => isBelow(path, folder))) return [];
  let at = path;
  while (isMissing(dirname(at)) && ![projectDir, workspaceDir].includes(dirname(dirname(at))))
    at = dirname(at);
  return [at];
}

function explainGit(named: readonly GitPlace[]): string[] {
  if (named.length === 0) return [];
  const places = named.map(({ path, namedBy }) => `${path} (${namedBy})`);
  return [`only a person changes what git runs or takes settings from: ${nameSome(places)}`];
}

/**
 * What another command, which still runs, did not find when it began was made while it ran, and belongs to nobody. So
 * nothing is kept because two commands each took it for what the other had found.
 */
function keepCommon(own: CommandSurroundings, others: readonly CommandSurroundings[]): CommandSurroundings {
  // Git's settings may have changed since another began, which then did not look there.
  const looked = (other: CommandSurroundings, path: string) => {
    const place = own.namedByGit?.find((each) => isBelow(path, each));
    return place === undefined || other.namedByGit?.includes(place);
  };
  const keep = (table: "existing" | "links") =>
    Object.fromEntries(
      Object.entries(own[table]).filter(([path, value]) =>
        others.every(
          (other) =>
            !looked(other, path) || (Object.hasOwn(other[table], path) && other[table][path] === value),
        ),
      ),
    );
  const keepListed = (nameSome: "closed" | "unspelled") =>
    own[nameSome].filter((path) => others.every((other) => other[nameSome].includes(path)));
  return {
    ...own,
    existing: keep("existing"),
    links: keep("links"),
    closed: keepListed("closed"),
    unspelled: keepListed("unspelled"),
  };
}

function closeFound(
  scan: FolderScan,
  request: CommandRequest,
): Pick<ProtectionGuard, "closed" | "hidden" | "notes"> {
  const { projectDir, workspaceDir, writable } = request;
  const roots = [projectDir, workspaceDir];
  const isInside = (path: string) => roots.some((root) => path !== root && isBelow(path, root));
  const must = [
    ...[...scan.protected.keys()].filter((path) => !scan.links.has(path)),
    // What a protected link leads to is as good as the file itself.
    ...[...scan.links.values()].filter(isInside),
    ...scan.unspelled.map(findSpelledFolder),
    ...scan.closed,
    ...scan.deep,
  ].filter((path) => writable.some((folder) => isBelow(path, folder)));
  const links = judgeLinks(scan.linked, request);
  const merge = (paths: readonly string[]) =>
    mergePlaces(
      paths.map((path) => cutDeepPath(isBelow(path, workspaceDir) ? workspaceDir : projectDir, path)),
      roots,
      MOST_MOUNTS,
    );
  const [closed, packages, hidden] = [merge(must), merge(links.packages), merge(links.hidden)];
  const isMerged = closed.length < new Set(must).size;
  return {
    closed: [...new Set([...closed, ...packages])],
    hidden,
    notes: [
      ...(isMerged
        ? [`too many agent files and repositories: read-only as a whole: ${nameSome(closed)}`]
        : []),
      ...(packages.length > 0
        ? [`read-only, because a package store shares them: ${nameSome(packages)}`]
        : []),
      ...(hidden.length > 0
        ? [`hidden, because they have second names (hard links): ${nameSome(hidden)}`]
        : []),
    ],
  };
}

/** The same rules that the file tools go by, for all files with several names at once. */
function judgeLinks(
  files: readonly LinkedNames[],
  { projectDir, workspaceDir, writable, hidden = [] }: CommandRequest,
): { packages: string[]; hidden: string[] } {
  const judged = { packages: [] as string[], hidden: [] as string[] };
  for (const { paths, links } of files) {
    const isDenied = paths.some((path) => hidden.some((place) => isBelow(path, place)));
    if (!isDenied && paths.length === links) continue;
    for (const path of paths) {
      const root = isBelow(path, workspaceDir) ? workspaceDir : projectDir;
      if (isDenied || !isInPackages(root, path)) judged.hidden.push(path);
      else if (writable.some((folder) => isBelow(path, folder))) judged.packages.push(path);
    }
  }
  return judged;
}

function nameSome(paths: readonly string[]): string {
  return `${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}`;
}
