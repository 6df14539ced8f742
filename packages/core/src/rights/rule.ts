import { RetinueError } from "../schema/error.ts";
import { hasHiddenCharacter } from "../schema/hidden-character.ts";
import type { Rule } from "../schema/rights.ts";

const MAX_RULE_LENGTH = 1_000;

/** Whether a text can be the name of a tool: visible ASCII without the marks that rules are written with. */
export function isToolName(name: string): boolean {
  return /^[!#-'+\--~]{1,200}$/.test(name);
}

/** Reads `tool` or `tool(pattern)`. The tool may hold `*`; the pattern is what stands between the outermost brackets. */
export function parseRule(text: string): Rule | { error: string } {
  if (text.trim() === "") return { error: "it is empty" };
  if (text.length > MAX_RULE_LENGTH) return { error: `it is longer than ${MAX_RULE_LENGTH} characters` };
  if (hasHiddenCharacter(text))
    return { error: "it holds a control or invisible character, or a blank that is no ordinary space" };
  if (text !== text.trim()) return { error: "it begins or ends with a space" };
  const open = text.indexOf("(");
  if (open < 0) return text.includes(")") ? unbalanced() : withTool(text, text);
  if (!text.endsWith(")")) return unbalanced();
  const pattern = text.slice(open + 1, -1).trim();
  if (pattern === "")
    return { error: "nothing stands between its brackets; write the tool's name alone to mean every call" };
  return withTool(text, text.slice(0, open), pattern);
}

/** Reads a list of rules; `where` names the place for the error, `home` is what `~/` stands for. */
export function parseRules(texts: readonly string[], where: string, home?: string): Rule[] {
  return texts.map((text) => {
    const rule = parseRule(text);
    if ("error" in rule) {
      throw new RetinueError(
        "config",
        `${where}: rule ${JSON.stringify(text)} cannot be read: ${rule.error}`,
        "Write a tool's name, a group, or a tool with a pattern such as write(test/**) or shell(npm test *).",
      );
    }
    return home === undefined ? rule : expandHome(rule, home);
  });
}

function withTool(text: string, tool: string, pattern?: string): Rule | { error: string } {
  if (tool === "") return { error: "no tool stands before its bracket" };
  if (/[^ -~]/.test(tool)) return { error: "the tool's name holds a character outside ASCII" };
  if (!isToolName(tool.replaceAll("*", "x")))
    return { error: `${JSON.stringify(tool)} cannot be the name of a tool` };
  return pattern === undefined ? { text, tool } : { text, tool, pattern };
}

function unbalanced(): { error: string } {
  return { error: "its brackets do not balance" };
}

function expandHome(rule: Rule, home: string): Rule {
  if (!rule.pattern?.startsWith("~/")) return rule;
  return { ...rule, pattern: escapeGlob(home.replace(/\/+$/, "")) + rule.pattern.slice(1) };
}

/** A path as a pattern that matches only itself. */
export function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}
