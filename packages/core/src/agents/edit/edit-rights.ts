import { isMap as isYamlMap } from "yaml";
import type { AgentFormat } from "../../schema/agent.ts";
import { isRecord } from "../../schema/json-object.ts";
import { readRights } from "../fields/read-rights.ts";
import type { ReadContext } from "../fields/read-values.ts";
import { delegateRules } from "../fields/resolve-rule.ts";
import { type Attempt, type Draft, findWritten, nameNewKey, resolveEntry } from "./edit-values.ts";
import { cannotSay } from "./frontmatter-edit.ts";

/** A field that is a list of rules. */
export type RightsField = "tools" | "askTools" | "disallowedTools" | "grants";

/** Ways to write a list of rules; null leaves the field out. */
export function rightsAttempts(
  field: RightsField,
  desired: readonly string[] | null,
  { written, format }: Draft,
): Attempt[] {
  const rules = desired === null ? null : [...new Set(desired)];
  const usesMaps = isRecord(written.tools) || written.permission != null || format === "opencode";
  const switches = usesMaps && field !== "grants" ? switchAttempts(field, rules) : [];
  const asList: Attempt = (draft) =>
    field === "tools" ? editTools(draft, rules) : editList(draft, field, rules);
  const hasList = written[field] !== undefined && !isRecord(written[field]);
  return hasList ? [asList, ...switches] : [...switches, asList];
}

/** What field readers need to read values of which no problems are told. */
export function createSilentReader({ format, known }: Pick<Draft, "format" | "known">): ReadContext {
  return { file: "", format, known, findLine: () => 0, problems: [] };
}

function editTools(draft: Draft, desired: readonly string[] | null): void {
  const { edit } = draft;
  const key = findWritten(draft, "tools") ?? findWritten(draft, "allowedTools");
  if (desired !== null) {
    editRules(draft, { key: key ?? nameNewKey(draft, "tools"), desired, field: "tools" });
    return;
  }
  if (key === undefined) return;
  const rest = (edit.list([key]) ?? []).map((entry) => resolveEntry(entry, draft).kind === "delegate");
  const remove = new Set(rest.flatMap((isDelegation, index) => (isDelegation ? [] : [index])));
  if (rest.includes(true)) edit.changeList([key], { remove, add: ["*"] });
  else edit.remove([key]);
}

function editList(draft: Draft, field: RightsField, desired: readonly string[] | null): void {
  const key = findWritten(draft, field);
  const isNothing = desired === null || (desired.length === 0 && field !== "grants");
  if (!isNothing) editRules(draft, { key: key ?? nameNewKey(draft, field), desired, field });
  else if (key !== undefined) draft.edit.remove([key]);
}

type RuleEdit = { key: string; desired: readonly string[]; field: RightsField };

/** Keeps every entry that is still meant, in its own words, and adds what is missing. */
function editRules(draft: Draft, { key, desired, field }: RuleEdit): void {
  const { edit } = draft;
  const entries = edit.list([key]);
  const remove = new Set<number>();
  const have = new Set<string>(field === "tools" ? [] : readElsewhere(draft, field));
  for (const [index, entry] of (entries ?? []).entries()) {
    const isDelegation = field === "tools" && resolveEntry(entry, draft).kind === "delegate";
    const rules = listMeant(entry, draft);
    if (isDelegation || rules === null) continue;
    if (!rules.every((rule) => desired.includes(rule))) remove.add(index);
    else for (const rule of rules) have.add(rule);
  }
  const missing = desired.filter((rule) => !have.has(rule));
  const add = spellRules(missing, draft);
  if (entries !== null) edit.changeList([key], { remove, add });
  else edit.set([key], draft.format === "claude" && add.length > 0 ? add.join(", ") : add);
}

/** What other fields of the file add to the same list. */
function readElsewhere(draft: Draft, field: RightsField): readonly string[] {
  return readRights(createSilentReader(draft), { ...draft.written, [field]: undefined })[field] ?? [];
}

/** The names under which other programs' files list tools, the widest first. */
const VENDOR_NAMES: Partial<Record<AgentFormat, readonly string[]>> = {
  claude: "Read Write Edit Bash Grep Glob LS WebSearch WebFetch TodoWrite Agent".split(" "),
  gemini:
    "read_file write_file replace run_shell_command grep_search glob list_directory google_web_search web_fetch write_todos".split(
      " ",
    ),
  opencode: "edit read bash grep glob list websearch webfetch todowrite task".split(" "),
  copilot: "edit search web read execute todo agent".split(" "),
};

/** The rules that one written entry stands for, delegation included; null for one that gives nothing here. */
function listMeant(entry: string, draft: Draft): string[] | null {
  const resolved = resolveEntry(entry, draft);
  if (resolved.kind === "rules") return resolved.rules;
  if (resolved.kind === "delegate") return delegateRules(resolved.agents);
  return resolved.kind === "everything" ? ["*"] : null;
}

/** Entries of a list that stand for exactly these rules, in the names of the file's own program where it has them. */
function spellRules(rules: readonly string[], draft: Draft): string[] {
  const missing = new Set(rules);
  const entries: string[] = [];
  for (const rule of rules) {
    if (!missing.has(rule)) continue;
    const pattern = /\((.*)\)$/s.exec(rule)?.[0] ?? "";
    const named = (VENDOR_NAMES[draft.format] ?? []).map((name) => `${name}${pattern}`);
    const entry = [...named, rule].find((text) => {
      const meant = listMeant(text, draft);
      return meant?.includes(rule) && meant.every((each) => missing.has(each));
    });
    if (entry === undefined) throw refuseRule(rule, draft);
    for (const each of listMeant(entry, draft) ?? []) missing.delete(each);
    entries.push(entry);
  }
  return entries;
}

function refuseRule(rule: string, draft: Draft): Error {
  const own = resolveEntry(rule, draft);
  if (own.kind === "unknown") return cannotSay(`the rule ${rule}`, `there is no such tool; ${own.hint}`);
  const means = listMeant(rule, draft)?.join(" and ") ?? "nothing here";
  return cannotSay(`the rule ${rule}`, `in a file of ${draft.format} it means ${means}`);
}

/** opencode's maps: `tools: {write: false}` and `permission: {bash: {"npm *": allow}}`. */
type Word = "allow" | "ask" | "deny";
/** One entry of a map, the word it amounts to, and the rules it is about. */
type Switch = { path: string[]; word: Word; rules: readonly string[] };

/** Ways to write a list of rules into the maps, the place that fits the file first. */
function switchAttempts(
  field: "tools" | "askTools" | "disallowedTools",
  desired: readonly string[] | null,
): Attempt[] {
  if (field !== "tools") {
    const word = field === "askTools" ? "ask" : "deny";
    return [(draft) => editWord(draft, field, word, desired ?? [])];
  }
  if (desired === null) return [removeBase];
  return [
    (draft) => editAllowed(draft, findBase(draft) ?? "tools", desired),
    (draft) => editAllowed(draft, "permission", desired),
  ];
}

/** Everything but a few is denied or asked about: entries are taken out and put in. */
function editWord(
  draft: Draft,
  field: "askTools" | "disallowedTools",
  word: Word,
  desired: readonly string[],
): void {
  const current = readRights(createSilentReader(draft), draft.written)[field];
  const gone = current.filter((rule) => !desired.includes(rule));
  const more = desired.filter((rule) => !current.includes(rule));
  for (const each of listSwitches(draft).filter((one) => one.word === word)) {
    const count = each.rules.filter((rule) => gone.includes(rule)).length;
    if (count === 0) continue;
    if (count < each.rules.length)
      throw cannotSay(field, `${each.rules.join(" and ")} are one right in this file`);
    draft.edit.remove(each.path);
  }
  for (const entry of spellRules(more, draft)) putWord(draft, entry, word);
}

/** Where opencode's rules are, as a map even if it was one word. */
export function findPermission(draft: Draft): string {
  const key = findWritten(draft, "permission") ?? nameNewKey(draft, "permission");
  draft.edit.wrap([key], "*");
  return key;
}

function putWord(draft: Draft, entry: string, word: Word): void {
  const { edit } = draft;
  const { name, pattern } = splitEntry(entry);
  const tools = findWritten(draft, "tools");
  const hasPermission = findWritten(draft, "permission") !== undefined;
  const isSwitch = word === "deny" && pattern === undefined && !hasPermission && tools !== undefined;
  if (isSwitch && isYamlMap(edit.get([tools]))) {
    edit.set([tools, name], false);
    return;
  }
  const key = findPermission(draft);
  const before = edit.scalar([key, name]);
  if (pattern === undefined) edit.set([key, name], word);
  else if (before === undefined) edit.set([key, name, pattern], word);
  else edit.set([key, name], { "*": before, [pattern]: word });
}

function splitEntry(entry: string): { name: string; pattern: string | undefined } {
  const [, name = "", pattern] = /^([^(]*)(?:\((.*)\))?$/s.exec(entry) ?? [];
  return { name, pattern };
}

/** Only what is listed is allowed: by `"*": false` among the tools, or by `"*": deny` in the permission. */
function editAllowed(draft: Draft, field: "tools" | "permission", desired: readonly string[]): void {
  const { edit } = draft;
  const key = findWritten(draft, field) ?? nameNewKey(draft, field);
  const [yes, no] = field === "tools" ? [true, false] : ["allow", "deny"];
  const isDelegation = (rule: string): boolean => /^delegate\b/.test(rule);
  if (edit.get([key]) === undefined) edit.set([key], { "*": no });
  else if (!edit.keys([key]).includes("*")) edit.set([key, "*"], no);
  const listed = listSwitches(draft).filter(
    ({ word, path, rules }) => word === "allow" && path[0] === key && !rules.some(isDelegation),
  );
  const kept = listed.filter((each) => each.rules.every((rule) => desired.includes(rule)));
  for (const each of listed) if (!kept.includes(each)) edit.remove(each.path);
  const have = kept.flatMap((each) => each.rules);
  const more = desired.filter((rule) => !have.includes(rule));
  for (const entry of spellRules(more, draft)) {
    const { name, pattern } = splitEntry(entry);
    if (pattern !== undefined && field === "tools") throw cannotSay("tools", `a switch cannot say ${entry}`);
    edit.set(pattern === undefined ? [key, name] : [key, name, pattern], yes);
  }
}

/** The map in which everything that is not named is denied already. */
function findBase(draft: Draft): "tools" | "permission" | undefined {
  return (["tools", "permission"] as const).find((field) => {
    const key = findWritten(draft, field);
    return key !== undefined && draft.edit.keys([key]).includes("*");
  });
}

function removeBase(draft: Draft): void {
  for (const field of ["tools", "permission"]) {
    const key = findWritten(draft, field);
    const base = key === undefined ? undefined : draft.edit.scalar([key, "*"]);
    if (key !== undefined && (base === false || base === "deny")) draft.edit.remove([key, "*"]);
  }
}

function listSwitches(draft: Draft): Switch[] {
  const { edit } = draft;
  const found: Switch[] = [];
  const add = (path: string[], entry: string): void => {
    const value = edit.scalar(path);
    const word = value === false ? "deny" : value === true ? "allow" : value;
    const rules = listMeant(entry, draft);
    if (rules !== null && (word === "allow" || word === "ask" || word === "deny"))
      found.push({ path, word, rules });
  };
  for (const field of ["tools", "permission"]) {
    const key = findWritten(draft, field);
    if (key === undefined) continue;
    for (const name of edit.keys([key])) {
      if (name === "*") continue;
      add([key, name], name);
      for (const pattern of edit.keys([key, name]))
        if (pattern !== "*") add([key, name, pattern], `${name}(${pattern})`);
    }
  }
  return found;
}
