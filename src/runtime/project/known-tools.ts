import type { KnownTools } from "../../agents/fields/tool-names.ts";
import type { ToolName } from "../../permissions/outlook.ts";

/**
 * Every tool that Retinue brings, by its groups: written down here so that reading agents loads no pack. A test holds
 * it against the tools themselves.
 */
const BY_GROUPS: readonly (readonly [groups: readonly string[], names: readonly string[]])[] = [
  [["filesystem"], ["read", "write", "edit", "ls", "glob", "grep"]],
  [["filesystem"], ["code_search", "overview", "docs_coverage", "plan_files"]],
  [["git"], ["git", "git_diff", "git_commit"]],
  [["test"], ["test"]],
  [["shell"], ["shell"]],
  [[], ["todo"]],
  [["web"], ["web_search", "web_fetch", "crawl_parallel"]],
  [["research"], ["save_corpus", "write_local_file"]],
  [["workbench"], ["workbench_upload", "workbench_download"]],
  [["delegation"], ["delegate", "delegate_many", "collect_results"]],
];

const OTHER_GROUPS = ["email", "calendar", "contacts", "slack"];

/** Every tool that a rule may name, with its groups. */
export const KNOWN_TOOLS: readonly ToolName[] = BY_GROUPS.flatMap(([groups, names]) =>
  names.map((name) => ({ name, groups })),
);

/** Every group that a rule may name. */
export const KNOWN_GROUPS: ReadonlySet<string> = new Set([
  ...KNOWN_TOOLS.flatMap(({ groups }) => groups),
  ...OTHER_GROUPS,
]);

/** The names that agents' rules may use: the tools and groups there are, and what the settings' own rules name. */
export function knownNames(namedInSettings: Iterable<string>): KnownTools {
  return {
    tools: new Set(KNOWN_TOOLS.map(({ name }) => name)),
    groups: new Set([...KNOWN_GROUPS, ...namedInSettings]),
  };
}
