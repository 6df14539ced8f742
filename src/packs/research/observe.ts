import type { ToolContext } from "../../tools/tool.ts";
import { cutAt } from "../../tools/truncate.ts";

/** Folders of the workspace that hold what tools came upon. */
export type ObservedFolder = "search_results" | "workbench_activity";

/** What a call came upon: a word or two for the file's name, and a JSON value. */
export type Observation = { folder: ObservedFolder; about: string; value: object };

const MAX_SLUG = 48;

/**
 * Saves what a call came upon as JSON in the workspace, as `<folder>/<row>-<about>.json` with the row of the record that
 * the call has. Returns at once and never throws: an observer must neither delay nor fail what it observes.
 */
export function observe(
  { rowId, observed }: Pick<ToolContext, "rowId" | "observed">,
  { folder, about, value }: Observation,
): string {
  const name = [String(rowId).padStart(6, "0"), slugOf(about)].filter(Boolean).join("-");
  const path = `${folder}/${name}.json`;
  observed(path, `${JSON.stringify(value, null, 2)}\n`);
  return path;
}

function slugOf(text: string): string {
  const words =
    text
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return cutAt(words.join("-"), MAX_SLUG).replace(/-$/, "");
}
