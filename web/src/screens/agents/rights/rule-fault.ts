/** What is said about a rule that is being typed: why it cannot stand, or what to look at. */
export type RuleRemark = { level: "fault" | "hint"; words: string } | null;

/** Looks at a rule before it is sent; the server has the last word. */
export function remarkOn(rule: string, known: ReadonlySet<string>): RuleRemark {
  const fault = (words: string): RuleRemark => ({ level: "fault", words });
  if (rule === "") return null;
  const open = rule.indexOf("(");
  const tool = open < 0 ? rule : rule.slice(0, open);
  if (open < 0 && rule.includes(")")) return fault("Its brackets do not balance.");
  if (open >= 0 && !rule.endsWith(")")) return fault("Close the bracket: tool(pattern)");
  if (open >= 0 && rule.slice(open + 1, -1).trim() === "") {
    return fault("Nothing stands between the brackets. The name alone means every call.");
  }
  if (tool === "") return fault("Begin with the name of a tool: write(test/**)");
  if (!/^[!#-'*+\--~]{1,200}$/.test(tool)) return fault(`“${tool}” cannot be the name of a tool.`);
  if (tool.includes("*") || known.has(tool)) return null;
  const close = [...known].find((name) => name.startsWith(tool) || tool.startsWith(name));
  return {
    level: "hint",
    words: `No tool or group is called “${tool}” here${close ? `; did you mean ${close}?` : "."}`,
  };
}
