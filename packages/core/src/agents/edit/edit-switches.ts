import { isScalar, isMap as isYamlMap } from "yaml";
import { readRights } from "../fields/read-rights.ts";
import { keySource, mapSource, scalarSource } from "../yaml/scalar-source.ts";
import { cannotSay } from "./cannot-say.ts";
import { type Attempt, type Draft, newKey, readerFor, writtenKey } from "./draft.ts";
import { rulesOf, spellRules } from "./vendor-names.ts";
import { keysAt, nodeAt, removeYamlEntry, setValue } from "./yaml-source.ts";

/** opencode's maps: `tools: {write: false}` and `permission: {bash: {"npm *": allow}}`. */

type Word = "allow" | "ask" | "deny";
/** One entry of a map, the word it amounts to, and the rules it is about. */
type Switch = { path: string[]; word: Word; rules: readonly string[] };

/** Ways to write a list of rules into the maps, the place that fits the file first. */
export function switchAttempts(
  field: "tools" | "askTools" | "disallowedTools",
  desired: readonly string[] | null,
): Attempt[] {
  if (field !== "tools") {
    const word = field === "askTools" ? "ask" : "deny";
    return [(draft) => editWord(draft, field, word, desired ?? [])];
  }
  if (desired === null) return [removeBase];
  return [
    (draft) => editAllowed(draft, holdsBase(draft) ?? "tools", desired),
    (draft) => editAllowed(draft, "permission", desired),
  ];
}

/** Everything but a few is denied or asked about: entries are taken out and put in. */
function editWord(
  draft: Draft,
  field: "askTools" | "disallowedTools",
  word: Word,
  desired: readonly string[],
): string {
  const current = readRights(readerFor(draft), draft.fields)[field];
  const gone = current.filter((rule) => !desired.includes(rule));
  const more = desired.filter((rule) => !current.includes(rule));
  let yaml = draft.yaml;
  for (const each of switchesOf(draft).filter((one) => one.word === word)) {
    const count = each.rules.filter((rule) => gone.includes(rule)).length;
    if (count === 0) continue;
    if (count < each.rules.length)
      throw cannotSay(field, `${each.rules.join(" and ")} are one right in this file`);
    yaml = removeYamlEntry(yaml, each.path);
  }
  for (const entry of spellRules(more, draft.format, draft.known))
    yaml = putWord({ ...draft, yaml }, entry, word);
  return yaml;
}

/** `permission: ask` as a map, so that there is room for more. */
export function withPermissionMap(draft: Draft): string {
  const key = writtenKey(draft, "permission");
  const node = key === undefined ? undefined : nodeAt(draft.yaml, [key]);
  if (key === undefined || !isScalar(node) || typeof node.value !== "string") return draft.yaml;
  return setValue(draft.yaml, [key], mapSource([["*", scalarSource(node.value, { isInFlow: true })]]));
}

function putWord(draft: Draft, entry: string, word: Word): string {
  const yaml = withPermissionMap(draft);
  const [, name = "", pattern] = /^([^(]*)(?:\((.*)\))?$/s.exec(entry) ?? [];
  const tools = writtenKey(draft, "tools");
  const permission = writtenKey(draft, "permission");
  const isSwitch =
    word === "deny" && pattern === undefined && permission === undefined && tools !== undefined;
  if (isSwitch && isYamlMap(nodeAt(yaml, [tools]))) return setValue(yaml, [tools, name], "false");
  const key = permission ?? newKey(draft, "permission");
  if (pattern === undefined) return setValue(yaml, [key, name], word);
  const before = nodeAt(yaml, [key, name]);
  if (!isScalar(before)) return setValue(yaml, [key, name, pattern], word);
  const rest = scalarSource(String(before.value), { isInFlow: true });
  return setValue(
    yaml,
    [key, name],
    mapSource([
      ["*", rest],
      [pattern, word],
    ]),
  );
}

/** Only what is listed is allowed: by `"*": false` among the tools, or by `"*": deny` in the permission. */
function editAllowed(draft: Draft, field: "tools" | "permission", desired: readonly string[]): string {
  const key = writtenKey(draft, field) ?? newKey(draft, field);
  const [yes, no] = field === "tools" ? ["true", "false"] : ["allow", "deny"];
  const fresh = spellRules(desired, draft.format, draft.known);
  if (nodeAt(draft.yaml, [key]) === undefined) {
    const entries = fresh.map((entry) => [entry, yes] as const);
    if (fresh.some((entry) => entry.includes("(")))
      throw cannotSay("tools", "a list with patterns needs more than words");
    return setValue(draft.yaml, [key], mapSource([["*", no], ...entries]));
  }
  let yaml = keysAt(draft.yaml, [key]).includes("*") ? draft.yaml : setValue(draft.yaml, [key, "*"], no);
  const isDelegation = (rule: string): boolean => /^delegate\b/.test(rule);
  const listed = switchesOf(draft).filter(
    ({ word, path, rules }) => word === "allow" && path[0] === key && !rules.some(isDelegation),
  );
  const kept = listed.filter((each) => each.rules.every((rule) => desired.includes(rule)));
  for (const each of listed) if (!kept.includes(each)) yaml = removeYamlEntry(yaml, each.path);
  const have = kept.flatMap((each) => each.rules);
  const more = desired.filter((rule) => !have.includes(rule));
  for (const entry of spellRules(more, draft.format, draft.known)) {
    const [, name = "", pattern] = /^([^(]*)(?:\((.*)\))?$/s.exec(entry) ?? [];
    if (pattern === undefined) yaml = setValue(yaml, [key, name], yes);
    else if (field === "permission") yaml = setValue(yaml, [key, name, pattern], yes);
    else throw cannotSay("tools", `a switch cannot say ${keySource(entry)}`);
  }
  return yaml;
}

/** The map in which everything that is not named is denied already. */
function holdsBase(draft: Draft): "tools" | "permission" | undefined {
  return (["tools", "permission"] as const).find((field) => {
    const key = writtenKey(draft, field);
    return key !== undefined && keysAt(draft.yaml, [key]).includes("*");
  });
}

function removeBase(draft: Draft): string {
  let { yaml } = draft;
  for (const field of ["tools", "permission"]) {
    const key = writtenKey(draft, field);
    const base = key === undefined ? undefined : nodeAt(yaml, [key, "*"]);
    if (key !== undefined && isScalar(base) && (base.value === false || base.value === "deny"))
      yaml = removeYamlEntry(yaml, [key, "*"]);
  }
  return yaml;
}

function switchesOf({ yaml, format, known, ...draft }: Draft): Switch[] {
  const found: Switch[] = [];
  const add = (path: string[], entry: string, value: unknown): void => {
    const word = value === false ? "deny" : value === true ? "allow" : value;
    const rules = rulesOf(entry, format, known);
    if (rules !== null && (word === "allow" || word === "ask" || word === "deny"))
      found.push({ path, word, rules });
  };
  for (const field of ["tools", "permission"]) {
    const key = writtenKey({ yaml, ...draft }, field);
    if (key === undefined) continue;
    for (const name of keysAt(yaml, [key])) {
      if (name === "*") continue;
      const value = nodeAt(yaml, [key, name]);
      if (isScalar(value)) add([key, name], name, value.value);
      for (const pattern of keysAt(yaml, [key, name])) {
        const inner = nodeAt(yaml, [key, name, pattern]);
        if (pattern !== "*" && isScalar(inner)) add([key, name, pattern], `${name}(${pattern})`, inner.value);
      }
    }
  }
  return found;
}
