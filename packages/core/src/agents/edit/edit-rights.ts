import { readRights } from "../fields/read-rights.ts";
import { isMap } from "../fields/read-values.ts";
import { resolveRule } from "../fields/resolve-rule.ts";
import { listSource, scalarSource } from "../yaml/scalar-source.ts";
import { type Attempt, type Draft, newKey, readerFor, writtenKey } from "./draft.ts";
import { switchAttempts } from "./edit-switches.ts";
import { changeEntries, readEntries } from "./list-source.ts";
import { rulesOf, spellRules } from "./vendor-names.ts";
import { removeYamlEntry, setValue } from "./yaml-source.ts";

/** A field that is a list of rules. */
export type RightsField = "tools" | "askTools" | "disallowedTools" | "grants";

/** Ways to write a list of rules; null leaves the field out. */
export function rightsAttempts(
  field: RightsField,
  desired: readonly string[] | null,
  draft: Draft,
): Attempt[] {
  const rules = desired === null ? null : [...new Set(desired)];
  const usesMaps =
    isMap(draft.fields.tools) || draft.fields.permission != null || draft.format === "opencode";
  const switches = usesMaps && field !== "grants" ? switchAttempts(field, rules) : [];
  const asList: Attempt = (from) =>
    field === "tools" ? editTools(from, rules) : editList(from, field, rules);
  const hasList = writtenKey(draft, field) !== undefined && !isMap(draft.fields[field]);
  return hasList ? [asList, ...switches] : [...switches, asList];
}

function editTools(draft: Draft, desired: readonly string[] | null): string {
  const key = writtenKey(draft, "tools") ?? writtenKey(draft, "allowedTools");
  if (desired !== null)
    return editRules(draft, { key: key ?? newKey(draft, "tools"), desired, field: "tools" });
  if (key === undefined) return draft.yaml;
  const entries = readEntries(draft.yaml, [key]) ?? [];
  const rest = entries.map((entry) => resolveRule(entry, draft.format, draft.known).kind === "delegate");
  if (!rest.includes(true)) return removeYamlEntry(draft.yaml, [key]);
  const remove = new Set(entries.flatMap((_, index) => (rest[index] ? [] : [index])));
  return changeEntries(draft.yaml, [key], { remove, add: ["*"] });
}

function editList(draft: Draft, field: RightsField, desired: readonly string[] | null): string {
  const key = writtenKey(draft, field);
  const isNothing = desired === null || (desired.length === 0 && field !== "grants");
  if (isNothing) return key === undefined ? draft.yaml : removeYamlEntry(draft.yaml, [key]);
  return editRules(draft, { key: key ?? newKey(draft, field), desired, field });
}

type RuleEdit = { key: string; desired: readonly string[]; field: RightsField };

/** Keeps every entry that is still meant, in its own words, and adds what is missing. */
function editRules(draft: Draft, { key, desired, field }: RuleEdit): string {
  const { yaml, format, known } = draft;
  const entries = readEntries(yaml, [key]);
  const remove = new Set<number>();
  const have = new Set<string>(field === "tools" ? [] : elsewhere(draft, field));
  for (const [index, entry] of (entries ?? []).entries()) {
    const isDelegation = field === "tools" && resolveRule(entry, format, known).kind === "delegate";
    const rules = rulesOf(entry, format, known);
    if (isDelegation || rules === null) continue;
    if (!rules.every((rule) => desired.includes(rule))) remove.add(index);
    else for (const rule of rules) have.add(rule);
  }
  const add = spellRules(
    desired.filter((rule) => !have.has(rule)),
    format,
    known,
  );
  if (entries !== null) return changeEntries(yaml, [key], { remove, add });
  const asLine = format === "claude" && add.length > 0;
  return setValue(yaml, [key], asLine ? scalarSource(add.join(", ")) : listSource(add));
}

/** What other fields of the file add to the same list. */
function elsewhere(draft: Draft, field: RightsField): readonly string[] {
  return readRights(readerFor(draft), { ...draft.fields, [field]: undefined })[field] ?? [];
}
