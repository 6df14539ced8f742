import { tryTo } from "../schema/error.ts";
import { findOwn } from "../schema/find-own.ts";
import { isRecord } from "../schema/json-object.ts";

/** The JSON of a plan in a text: the text itself, or the last fenced block that holds an object with steps. */
export function readDraft(text: string): unknown {
  const whole = parseJson(text.trim());
  if (whole !== undefined) return tidyDraft(whole);
  const blocks = [...text.matchAll(/^[ \t]*```[\w-]*[ \t]*\r?\n([\s\S]*?)^[ \t]*```/gm)];
  for (const [, block = ""] of blocks.reverse()) {
    const value = parseJson(block);
    if (isRecord(value) && "steps" in value) return tidyDraft(value);
  }
  return undefined;
}

/** Puts right what is only a matter of spelling, so that nobody has to be asked again for it. */
export function tidyDraft(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { goal, summary, steps } = value;
  const risks = value.risks ?? value.warnings ?? value.open_questions;
  return {
    ...(goal !== undefined && { goal }),
    ...(summary !== undefined && { summary }),
    ...(risks !== undefined && { risks: typeof risks === "string" ? [risks] : risks }),
    steps: Array.isArray(steps) ? steps.map(tidyStep) : steps,
  };
}

const SPELLINGS: Readonly<Record<string, string>> = {
  depends_on: "dependsOn",
  success_criteria: "successCriteria",
  agent: "role",
};

function tidyStep(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const step: Record<string, unknown> = { dependsOn: [], files: [] };
  for (const [key, field] of Object.entries(value)) {
    const name = findOwn(SPELLINGS, key) ?? key;
    if (!(name !== key && Object.hasOwn(value, name))) step[name] = field;
  }
  if (typeof step.id === "number") step.id = String(step.id);
  if (Array.isArray(step.dependsOn)) step.dependsOn = step.dependsOn.map(idText);
  if (typeof step.successCriteria === "string") step.successCriteria = [step.successCriteria];
  if (typeof step.estimate === "number") step.estimate = { toolCalls: step.estimate };
  if (isRecord(step.estimate)) step.estimate = tidyEstimate(step.estimate);
  return step;
}

function tidyEstimate({ tool_calls, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return tool_calls === undefined ? rest : { toolCalls: tool_calls, ...rest };
}

function idText(id: unknown): unknown {
  return typeof id === "number" ? String(id) : id;
}

function parseJson(text: string): unknown {
  return /^\s*[{[]/.test(text) ? tryTo(() => JSON.parse(text)) : undefined;
}
