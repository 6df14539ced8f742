import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isBelow } from "../shell/below.ts";
import type { CommandRequest } from "../shell/run-command.ts";
import { findProtected, holdPlaces, setAside, TOP_NAMES } from "./protected-paths.ts";

/** What keeps agent files, settings and git's own files as they are while a command may write around them. */
export type Guard = {
  /** Stay read-only. */
  readonly existing: readonly string[];
  /** Folders around them: mounted on themselves, so that they cannot be renamed away. */
  readonly fixed: readonly string[];
  /** Held by empty folders, so that nothing can be made there. */
  readonly missing: readonly string[];
  /** After the command: renames what was made all the same, deeper down, and says so. */
  check(): Promise<string[]>;
  release(): void;
};

/** Looks through what a command may write for what it may not. */
export async function guardProtected(
  request: Pick<CommandRequest, "projectDir" | "workspaceDir" | "writable">,
): Promise<Guard> {
  const { projectDir, workspaceDir, writable } = request;
  const folders = writable.map((folder) => ({
    folder,
    root: isBelow(folder, workspaceDir) ? workspaceDir : projectDir,
  }));
  const existing = new Set<string>();
  const fixed = new Set<string>();
  let isWhole = true;
  for (const { folder, root } of folders) {
    const found = await findProtected(folder, root);
    isWhole &&= found.whole;
    for (const path of found.paths) {
      existing.add(path);
      for (let at = dirname(path); at !== folder && isBelow(at, folder); at = dirname(at)) fixed.add(at);
    }
  }
  const tops = folders.filter(({ folder, root }) => folder === root).map(({ root }) => root);
  const names = tops.flatMap((root) => TOP_NAMES.map((name) => join(root, name)));
  const places = holdPlaces(names.filter((path) => !existsSync(path)));
  return {
    existing: [...existing],
    fixed: [...fixed],
    missing: places.held,
    release: places.release,
    async check() {
      places.release();
      const notes = isWhole
        ? []
        : ["there are too many files to look for agent files and settings among all of them"];
      for (const { folder, root } of folders) {
        const made = (await findProtected(folder, root)).paths.filter((path) => !existing.has(path));
        for (const path of await setAside(root, made))
          notes.push(`no command may make this; it is now ${path}`);
      }
      return notes;
    },
  };
}
