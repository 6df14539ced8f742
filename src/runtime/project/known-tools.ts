import type { KnownTools } from "../../agents/fields/tool-names.ts";
import { codeTools } from "../../packs/code/code-tools.ts";
import type { ToolName } from "../../permissions/outlook.ts";

/** Tools that rules may name before the pack that brings them is loaded, by their groups. */
const BY_GROUPS: readonly (readonly [groups: readonly string[], names: readonly string[]])[] = [
  [["web"], ["web_search", "web_fetch"]],
  [["research", "web"], ["crawl_parallel"]],
  [["research"], ["save_corpus", "write_local_file", "workbench_upload", "workbench_download"]],
  [["delegation"], ["delegate", "delegate_many", "collect_results"]],
];

const OTHER_GROUPS = ["email", "calendar", "contacts", "slack"];

/** Every tool that a rule may name, with its groups. */
export const KNOWN_TOOLS: readonly ToolName[] = [
  ...codeTools.map(({ name, groups }) => ({ name, groups })),
  ...BY_GROUPS.flatMap(([groups, names]) => names.map((name) => ({ name, groups }))).filter(
    ({ name }) => !codeTools.some((tool) => tool.name === name),
  ),
];

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
