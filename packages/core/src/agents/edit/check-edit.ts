import { isDeepStrictEqual } from "node:util";
import type { Agent, Problem } from "../../schema/agent.ts";
import type { AgentForm } from "../../schema/api/agent.ts";
import { findKey } from "../fields/field-names.ts";
import { withoutControls } from "../fields/read-values.ts";
import { agentReference, slugOf } from "../fields/slug.ts";
import { normaliseText } from "../yaml/split-frontmatter.ts";
import { formOf, isSameValue } from "./agent-form.ts";
import { cannotSay } from "./cannot-say.ts";

/** A definition as it was read and the keys it was read from. */
export type EditSide = { agent: Agent | undefined; values: ReadonlyMap<string, unknown> };

/** One edited field, and the file before and after. */
export type EditCheck = {
  field: keyof AgentForm;
  desired: unknown;
  before: EditSide;
  after: EditSide;
  problems: readonly Problem[];
};

/** Keys that an edit of a field may change besides the one of its own name. */
const TOUCHED: Partial<Record<keyof AgentForm, readonly string[]>> = {
  name: ["id"],
  displayName: ["display", "name"],
  tools: ["allowedTools", "permission"],
  askTools: ["permission"],
  disallowedTools: ["tools", "permission"],
  subagents: ["agents", "tools", "permission"],
  limits: ["maxTurns", "maxSteps", "steps", "timeoutMins"],
  workspace: ["isolation"],
  icon: ["display"],
  color: ["display"],
  enabled: ["disable", "disabled"],
};

/** Parts of a definition that no form shows. */
const UNSHOWN = ["delegation", "retry", "deliverables", "extra"] as const;

/** What a field is when the file leaves it out; those not named here then come from elsewhere. */
const LEFT_OUT: Partial<AgentForm> = {
  model: "inherit",
  aliases: [],
  tools: null,
  askTools: [],
  disallowedTools: [],
  grants: null,
  subagents: null,
  context: "task_only",
  limits: {},
  temperature: null,
  maxOutputTokens: null,
  workspace: "shared",
  flow: "loop",
  icon: null,
  color: null,
  enabled: true,
  prompt: "",
};

/** A value as reading the file back would give it. */
export function wantedValue(field: keyof AgentForm, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (field === "prompt") return normaliseText(String(value)).trim();
  if (field === "name") return slugOf(String(value)) ?? String(value);
  if (field === "aliases" && Array.isArray(value)) return value.flatMap((name) => slugOf(String(name)) ?? []);
  if (field === "subagents" && typeof value === "object") return referring(value);
  return typeof value === "string" ? withoutControls(value).trim() : value;
}

function referring(policy: object): unknown {
  return Object.fromEntries(
    Object.entries(policy).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map((name) => agentReference(String(name)) ?? name) : value,
    ]),
  );
}

/** Throws unless the file now says what was wanted, and everything else as before. */
export function checkEdit({ field, desired, before, after, problems }: EditCheck): void {
  const touched = new Set<string>([field, ...(TOUCHED[field] ?? [])]);
  for (const key of new Set([...before.values.keys(), ...after.values.keys()])) {
    if (touched.has(findKey(key)?.key ?? "")) continue;
    if (!isDeepStrictEqual(before.values.get(key), after.values.get(key)))
      throw cannotSay(field, `${key} would change with it`);
  }
  if (after.agent === undefined) {
    const mayBreak = before.agent === undefined || field === "description" || field === "name";
    const error = problems.find(({ severity }) => severity === "error");
    if (!mayBreak) throw cannotSay(field, error?.message ?? "no agent could be made of it");
    return;
  }
  const form = formOf(after.agent);
  const wanted = desired ?? LEFT_OUT[field];
  if (wanted !== undefined && !isSameValue(form[field], wanted))
    throw cannotSay(field, `read back, it would be ${show(form[field])}`);
  if (before.agent !== undefined) checkOthers(field, before.agent, after.agent);
}

function checkOthers(field: keyof AgentForm, before: Agent, after: Agent): void {
  const [old, now] = [formOf(before), formOf(after)];
  for (const other of Object.keys(old) as (keyof AgentForm)[]) {
    if (other === field || isFollowing(field, other, old)) continue;
    if (!isDeepStrictEqual(old[other], now[other])) throw cannotSay(field, `${other} would change with it`);
  }
  for (const part of UNSHOWN)
    if (!isDeepStrictEqual(before[part], after[part])) throw cannotSay(field, `${part} would change with it`);
}

/** Somebody who is called by its name has no other to keep, and an alias that becomes the name is none any more. */
function isFollowing(field: keyof AgentForm, other: keyof AgentForm, old: AgentForm): boolean {
  if (field !== "name") return false;
  return other === "aliases" || (other === "displayName" && slugOf(old.displayName) === old.name);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
