import type { ToolList } from "../../../../../src/schema/api/agent.ts";

/** Tools that belong together. */
export type ToolGroup = {
  name: string;
  tools: ToolList["tools"];
  /** A rule may name the group; one that is called like a tool is that tool's row. */
  isRule: boolean;
};

/** Tools by their first group, those that fit some words only. */
export function toolGroups({ tools, groups }: ToolList, words: string): ToolGroup[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = tools.filter(({ name, groups: own, description }) => {
    const whole = [name, ...own, description].join(" ").toLowerCase();
    return wanted.every((word) => whole.includes(word));
  });
  const names = new Set(tools.map(({ name }) => name));
  return [...Map.groupBy(fits, ({ groups: [first] }) => first ?? "other")].map(([name, own]) => ({
    name,
    tools: own,
    isRule: groups.includes(name) && !names.has(name),
  }));
}
