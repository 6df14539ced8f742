import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isInPackages } from "../../../files/hard-links.ts";
import { isBelow } from "../shell/below.ts";
import { mergePlaces } from "../shell/disk-rights.ts";
import type { CommandRequest } from "../shell/run-command.ts";
import { openJournal, settleLeftCommands } from "./command-journal.ts";
import { createHolder, holdPlaces, isHeld } from "./hold-places.ts";
import { HELD_NAMES } from "./protected-paths.ts";
import type { FirstProcess } from "./sandbox-end.ts";
import { type FolderScan, findSpelledFolder, type LinkedNames, scanFolders } from "./scan-folders.ts";
import { type CommandState, describeSurroundings, settleCommand } from "./settle-command.ts";

/** What keeps agent files, settings and git's own files as they are while a command may write around them. */
export type Guard = {
  /** Stay read-only. */
  readonly closed: readonly string[];
  /** Must not be seen. */
  readonly hidden: readonly string[];
  /** Held by empty folders, so that nothing can be made there. */
  readonly held: readonly string[];
  readonly notes: readonly string[];
  /** To be called when the sandbox is ready, before anything runs in it. */
  begin(first: FirstProcess): void;
  /** After the command: sets aside what was made all the same, says so, and leaves nothing of its own behind. Once. */
  settle(): Promise<string[]>;
};

/** Parts that a sandbox is put together from; of more, the folders around them are read-only as a whole. */
const MOST_MOUNTS = 400;

/**
 * Looks through everything that a command sees for what it may not change, or reach by a second name. Closed when in
 * doubt: what cannot be looked at cannot be written, and if the look itself fails, the command does not run.
 */
export async function guardProtected(request: CommandRequest, dataDir: string): Promise<Guard> {
  const { projectDir, workspaceDir, writable } = request;
  if (writable.length === 0) {
    const scan = await scanFolders([projectDir, workspaceDir], { linked: true });
    const seen = closeFound({ ...scan, protected: [] }, request);
    return { ...seen, held: [], begin: () => {}, settle: async () => [] };
  }
  await settleLeftCommands(dataDir);
  const findRoot = (path: string) => (isBelow(path, workspaceDir) ? workspaceDir : projectDir);
  const folders = writable.map((folder) => ({ folder, root: findRoot(folder) }));
  const wanted = folders
    .filter(({ folder, root }) => folder === root)
    .flatMap(({ root }) => HELD_NAMES.map((name) => join(root, name)));
  let state: CommandState = { holder: createHolder(), folders, held: wanted };
  const journal = openJournal(dataDir, state);
  let settling: Promise<string[]> | undefined;
  const settle = () => {
    settling ??= settleCommand(state).finally(() => journal.close());
    return settling;
  };
  try {
    const hold = (paths: readonly string[]) =>
      Promise.all(
        [projectDir, workspaceDir].map((root) =>
          holdPlaces(
            root,
            paths.filter((path) => findRoot(path) === root),
            state.holder,
          ),
        ),
      ).then((lists) => lists.flat());
    const held = new Set(await hold(wanted));
    const scan = await scanFolders([projectDir, workspaceDir], { linked: true });
    const isWritable = (path: string) => writable.some((folder) => isBelow(path, folder));
    // What others hold, deeper down, is held as well: it would be gone when they end.
    const protectedPaths = scan.protected.filter(({ path }) => isWritable(path));
    const others = protectedPaths.map(({ path }) => path).filter((path) => !held.has(path) && isHeld(path));
    for (const path of await hold(others)) held.add(path);
    const found = { ...scan, protected: protectedPaths.filter(({ path }) => !held.has(path)) };
    state = { ...state, held: [...held] };
    const before = await describeSurroundings(found);
    return {
      ...closeFound(found, request),
      held: [...held],
      begin(first) {
        state = { ...state, before, first };
        journal.write(state);
      },
      settle,
    };
  } catch (thrown) {
    await settle();
    throw thrown;
  }
}

function closeFound(scan: FolderScan, request: CommandRequest): Pick<Guard, "closed" | "hidden" | "notes"> {
  const roots = [request.projectDir, request.workspaceDir];
  const must = [
    ...scan.protected.flatMap(({ path, isLink }) => (isLink ? followLink(path, roots) : [path])),
    ...scan.unspelled.map(findSpelledFolder),
    ...scan.closed,
  ];
  const links = judgeLinks(scan.linked, request);
  const closed = mergePlaces(must, roots, MOST_MOUNTS);
  const packages = mergePlaces(links.packages, roots, MOST_MOUNTS);
  const hidden = mergePlaces(links.hidden, roots, MOST_MOUNTS);
  const isMerged = closed.length < new Set(must).size;
  return {
    closed: [...new Set([...closed, ...packages])],
    hidden,
    notes: [
      ...(isMerged ? [`too many agent files and repositories: read-only as a whole: ${list(closed)}`] : []),
      ...(packages.length > 0 ? [`read-only, because a package store shares them: ${list(packages)}`] : []),
      ...(hidden.length > 0 ? [`hidden, because they have second names (hard links): ${list(hidden)}`] : []),
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

/** What a protected link leads to is as good as the file itself. */
function followLink(path: string, roots: readonly string[]): string[] {
  try {
    const target = realpathSync(path);
    return roots.some((root) => target !== root && isBelow(target, root)) ? [target] : [];
  } catch {
    return [];
  }
}

function list(paths: readonly string[]): string {
  return `${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}`;
}
