import { pathTarget } from "@retinue/core/files/resolve-path";
import type { Target } from "@retinue/core/schema/rights";
import type { Roots, ToolContext } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";

/** Folders of the workspace that hold what tools have found. */
type ObservedFolder = "search_results" | "workbench_activity";

/** What a call found: a word or two for the file's name, and a JSON value. */
type Observation = { folder: ObservedFolder; about: string; value: object };

const MAX_SLUG = 48;

/**
 * Saves what a call found as JSON in the workspace, as `<folder>/<row>-<about>.json` with the row of the record that
 * the call has. Returns at once and never throws: an observer must neither delay nor fail what it observes.
 */
export function observe(
  { rowId, observed }: Pick<ToolContext, "rowId" | "observed">,
  { folder, about, value }: Observation,
): string {
  const name = [String(rowId).padStart(6, "0"), toSlug(about, MAX_SLUG)].filter(Boolean).join("-");
  const path = `${folder}/${name}.json`;
  observed(path, `${JSON.stringify(value, null, 2)}\n`);
  return path;
}

/** The words of a text as a part of a file's name; empty if it has none that every system can write. */
export function toSlug(text: string, maxChars: number): string {
  const words =
    text
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return cutAt(words.join("-"), maxChars).replace(/-$/, "");
}

/** The permission target of a file of the workspace that is written and belongs to one run: no other run's is overwritten. */
export async function findOwnTarget(path: string, roots: Roots): Promise<Target> {
  const target = await pathTarget(path, "write", roots);
  if (target.kind !== "path" || target.root !== "workspace" || !roots.takePath) return target;
  const own = roots.takePath(target.path);
  return own === target.path ? target : pathTarget(own, "write", roots);
}
