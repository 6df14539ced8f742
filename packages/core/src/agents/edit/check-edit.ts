import { isDeepStrictEqual } from "node:util";
import type { Agent, Problem } from "../../schema/agent.ts";
import { FIELD_TABLE } from "../../schema/agent-fields.ts";
import type { AgentForm } from "../../schema/api/agent.ts";
import { type FormValue, findFormDefault, listFormFields } from "../../schema/form-fields.ts";
import { findKey } from "../fields/field-names.ts";
import { withoutControls } from "../fields/read-values.ts";
import { agentReference, makeSlug } from "../fields/slug.ts";
import { normaliseText } from "../yaml/split-frontmatter.ts";
import { cannotSay } from "./frontmatter-edit.ts";

/** What a form shows of an agent. */
export function toForm(agent: Agent): AgentForm {
  const values: Readonly<Record<string, unknown>> = { ...agent, ...agent.display };
  const shown = listFormFields().map((value) => {
    const there = values[value.name];
    return [value.name, there === undefined ? findFormDefault(value) : there] as const;
  });
  // What each value is, the table says: it is the same that the type is made from.
  return Object.fromEntries([...shown, ["prompt", agent.prompt]]) as AgentForm;
}

/** Whether two values of a field mean the same; the order of names in a list means nothing. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(sortLists(a), sortLists(b));
}

function sortLists(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set<unknown>(value)].sort();
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortLists(inner)]));
}

/** A value as reading the file back would give it. */
export function toReadValue(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (name === "prompt") return normaliseText(String(value)).trim();
  if (name === "name") return makeSlug(String(value)) ?? String(value);
  if (name === "aliases" && Array.isArray(value))
    return value.flatMap((each) => makeSlug(String(each)) ?? []);
  if (name === "subagents" && typeof value === "object") return refer(value);
  return typeof value === "string" ? withoutControls(value).trim() : value;
}

function refer(policy: object): unknown {
  return Object.fromEntries(
    Object.entries(policy).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map((name) => agentReference(String(name)) ?? name) : value,
    ]),
  );
}

/** A definition as it was read and the keys it was read from. */
export type EditSide = { agent: Agent | undefined; values: ReadonlyMap<string, unknown> };

/** One edited value, and the file before and after; `value` is null for the prompt, which is no field. */
export type EditCheck = {
  name: string;
  value: FormValue | null;
  desired: unknown;
  before: EditSide;
  after: EditSide;
  problems: readonly Problem[];
};

/** Keys that an edit may change besides its own field and those of other programs for it. */
const ALSO_TOUCHED: Readonly<Record<string, readonly string[]>> = {
  name: ["id"],
  displayName: ["name", "displayName"],
  tools: ["permission"],
  askTools: ["permission"],
  disallowedTools: ["tools"],
  subagents: ["tools", "permission"],
};

/** Throws unless the file now says what was wanted, and everything else as before. */
export function checkEdit({ name, value, desired, before, after, problems }: EditCheck): void {
  const field = value?.field ?? name;
  const touched = new Set([
    field,
    ...Object.keys(FIELD_TABLE[field]?.vendorKeys ?? {}),
    ...(ALSO_TOUCHED[name] ?? []),
  ]);
  for (const key of new Set([...before.values.keys(), ...after.values.keys()])) {
    if (touched.has(findKey(key)?.key ?? "")) continue;
    if (!isDeepStrictEqual(before.values.get(key), after.values.get(key)))
      throw cannotSay(name, `${key} would change with it`);
  }
  if (after.agent === undefined) {
    const mayBreak = before.agent === undefined || name === "description" || name === "name";
    const error = problems.find(({ severity }) => severity === "error");
    if (!mayBreak) throw cannotSay(name, error?.message ?? "no agent could be made of it");
    return;
  }
  const form: Readonly<Record<string, unknown>> = toForm(after.agent);
  const usual = value ? findFormDefault(value) : "";
  // A text that an agent always has comes from elsewhere when the file leaves it out.
  const isOpen = desired === null && value !== null && usual === "";
  if (!isOpen && !isSameValue(form[name], desired ?? usual))
    throw cannotSay(name, `read back, it would be ${show(form[name])}`);
  if (before.agent !== undefined) checkOthers(name, [before.agent, after.agent]);
}

function checkOthers(name: string, [before, after]: readonly [Agent, Agent]): void {
  const old = toForm(before);
  const now: Readonly<Record<string, unknown>> = toForm(after);
  for (const [other, value] of Object.entries(old)) {
    if (other === name || isFollowing(name, other, old)) continue;
    if (!isDeepStrictEqual(value, now[other])) throw cannotSay(name, `${other} would change with it`);
  }
  const hidden = Object.keys(FIELD_TABLE).filter(
    (field) => FIELD_TABLE[field]?.form === undefined && field !== "display",
  );
  const [was, is]: Readonly<Record<string, unknown>>[] = [{ ...before }, { ...after }];
  for (const field of [...hidden, "extra"])
    if (!isDeepStrictEqual(was?.[field], is?.[field])) throw cannotSay(name, `${field} would change with it`);
}

/** Somebody who is called by its name has no other to keep, and an alias that becomes the name is none any more. */
function isFollowing(name: string, other: string, old: AgentForm): boolean {
  if (name !== "name") return false;
  return other === "aliases" || (other === "displayName" && makeSlug(old.displayName) === old.name);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
