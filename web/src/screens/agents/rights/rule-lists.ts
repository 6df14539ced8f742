import type { AgentForm, AgentFormChange } from "../../../../../src/schema/api/agent.ts";

/** In which of an agent's lists a rule stands. */
export type Listing = "allow" | "ask" | "never" | "none";

/** The form's lists of rules. */
export type RuleLists = Pick<AgentForm, "tools" | "askTools" | "disallowedTools">;

/** Their names, for whoever shows them. */
export const LISTS = ["tools", "askTools", "disallowedTools"] as const satisfies (keyof RuleLists)[];

/** The strictest list that holds a rule, as the rights are read. */
export function listingOf({ tools, askTools, disallowedTools }: RuleLists, rule: string): Listing {
  if (disallowedTools.includes(rule)) return "never";
  if (askTools.includes(rule)) return "ask";
  return tools?.includes(rule) ? "allow" : "none";
}

/** Puts a rule into one list and takes it out of the others; only lists that differ are named. */
export function withListing(lists: RuleLists, rule: string, listing: Listing): AgentFormChange {
  const placed = (list: readonly string[], isIn: boolean) => {
    if (list.includes(rule) === isIn) return list;
    return isIn ? [...list, rule] : list.filter((other) => other !== rule);
  };
  const { tools, askTools, disallowedTools } = lists;
  const next = {
    tools: tools && placed(tools, listing === "allow"),
    askTools: placed(askTools, listing === "ask"),
    disallowedTools: placed(disallowedTools, listing === "never"),
  };
  return {
    ...(next.tools !== tools && { tools: next.tools }),
    ...(next.askTools !== askTools && { askTools: orNone(next.askTools) }),
    ...(next.disallowedTools !== disallowedTools && { disallowedTools: orNone(next.disallowedTools) }),
  };
}

/** An empty list is a field that the file leaves out. */
export function orNone(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

/** Rules that are more than the name of a tool or group: patterns, globs, and names that nobody knows. */
export function patternRules(
  lists: RuleLists,
  known: ReadonlySet<string>,
): { rule: string; listing: Listing }[] {
  const of = (list: readonly string[], listing: Listing) =>
    list.filter((rule) => !known.has(rule)).map((rule) => ({ rule, listing }));
  return [
    ...of(lists.tools ?? [], "allow"),
    ...of(lists.askTools, "ask"),
    ...of(lists.disallowedTools, "never"),
  ];
}
