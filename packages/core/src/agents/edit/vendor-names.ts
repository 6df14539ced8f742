import type { AgentFormat } from "../../schema/agent.ts";
import { resolveRule } from "../fields/resolve-rule.ts";
import { delegateRules } from "../fields/rule-lists.ts";
import type { KnownTools } from "../fields/tool-names.ts";
import { cannotSay } from "./cannot-say.ts";

/** The names under which other programs' files list tools, the widest first. */
const NAMES: Partial<Record<AgentFormat, readonly string[]>> = {
  claude: "Read Write Edit Bash Grep Glob LS WebSearch WebFetch TodoWrite Agent".split(" "),
  gemini:
    "read_file write_file replace run_shell_command grep_search glob list_directory google_web_search web_fetch write_todos".split(
      " ",
    ),
  opencode: "edit read bash grep glob list websearch webfetch todowrite task".split(" "),
  copilot: "edit search web read execute todo agent".split(" "),
};

/** The rules that one written entry stands for, delegation included; null for one that gives nothing here. */
export function rulesOf(entry: string, format: AgentFormat, known: KnownTools): string[] | null {
  const resolved = resolveRule(entry, format, known);
  if (resolved.kind === "rules") return resolved.rules;
  if (resolved.kind === "delegate") return delegateRules(resolved.agents);
  return resolved.kind === "everything" ? ["*"] : null;
}

/** Entries of a list that stand for exactly these rules, in the names of the file's own program where it has them. */
export function spellRules(rules: readonly string[], format: AgentFormat, known: KnownTools): string[] {
  const missing = new Set(rules);
  const entries = new Map<string, string>();
  for (const rule of rules) {
    if (!missing.has(rule)) continue;
    const pattern = /\((.*)\)$/s.exec(rule)?.[0] ?? "";
    const named = (NAMES[format] ?? []).map((name) => `${name}${pattern}`);
    const entry = [...named, rule].find((text) => {
      const meant = rulesOf(text, format, known);
      return meant?.includes(rule) && meant.every((each) => missing.has(each));
    });
    if (entry === undefined) throw unsayable(rule, format, known);
    for (const each of rulesOf(entry, format, known) ?? []) missing.delete(each);
    entries.set(rule, entry);
  }
  return [...entries.values()];
}

function unsayable(rule: string, format: AgentFormat, known: KnownTools): Error {
  const own = resolveRule(rule, format, known);
  if (own.kind === "unknown") return cannotSay(`the rule ${rule}`, `there is no such tool; ${own.hint}`);
  const means = rulesOf(rule, format, known)?.join(" and ") ?? "nothing here";
  return cannotSay(`the rule ${rule}`, `in a file of ${format} it means ${means}`);
}
