import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { tryTo } from "../schema/error.ts";

/** What stands in a project besides the contents of its files. */
export type Layout = {
  /** Modes of the files that are kept. */
  modes: Map<string, number>;
  /** Modes of the folders. */
  folders: Map<string, number>;
  /** Files and folders that are left alone: ignored ones and nested repositories. */
  others: Set<string>;
  /** Files that are kept and changed since a moment. */
  late: Set<string>;
};

const STEPS_AT_ONCE = 500;

/**
 * Looks at a project from its root. What is neither a known file nor left alone came up while it was being looked at,
 * and counts as not there yet. Gives others a turn now and then.
 */
export async function walkLayout(
  root: string,
  {
    files,
    leftAlone,
    sinceMs,
  }: { files: ReadonlyMap<string, unknown>; leftAlone: ReadonlySet<string>; sinceMs: number },
): Promise<Layout> {
  const layout: Layout = { modes: new Map(), folders: new Map(), others: new Set(), late: new Set() };
  const left = [""];
  let steps = 0;
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      if (entry.name === ".git") continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (++steps % STEPS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      if (leftAlone.has(path)) {
        layout.others.add(path);
        continue;
      }
      const stats = statOf(join(root, path));
      if (stats === undefined) continue;
      const { mode, ctimeMs } = stats;
      if (!entry.isDirectory()) {
        if (files.has(path)) layout.modes.set(path, mode);
        if (files.has(path) && ctimeMs >= sinceMs) layout.late.add(path);
      } else {
        layout.folders.set(path, mode);
        left.push(path);
      }
    }
  }
  return layout;
}

function entriesOf(path: string): Dirent[] {
  return tryTo(() => readdirSync(path, { withFileTypes: true })) ?? [];
}

/** What stands at a path, itself never followed; undefined if nothing does. */
export function statOf(path: string): Stats | undefined {
  return tryTo(() => lstatSync(path));
}
