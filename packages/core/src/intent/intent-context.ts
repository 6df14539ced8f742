import type { Run } from "../run/run.ts";
import { parseJson } from "../tools/validate-input.ts";
import type { IntentContext } from "./intent-shapes.ts";
import { type IntentState, outstanding } from "./intent-state.ts";

/** The six fields as the run stands now. */
export function intentContext(run: Run, state: IntentState, status: IntentContext["status"]): IntentContext {
  const { assessment } = state;
  return {
    request: readRequest(run),
    tools: assessment?.tools ?? [],
    params: assessment?.params ?? {},
    status,
    result: resultOf(state),
    notes: notesOf(state),
  };
}

/** What was asked, without the sections that the host puts after it. */
export function readRequest({ asked }: Pick<Run, "asked">): string {
  return asked.trim();
}

/**
 * What the calls have given, as one object: the fields of every tool's data side by side, later ones over earlier ones;
 * of a tool that was called several times, a list under its name.
 */
export function resultOf({ calls }: IntentState): Record<string, unknown> {
  const byTool = new Map<string, unknown[]>();
  for (const { tool, text, fault } of calls) {
    if (fault) continue;
    byTool.set(tool, [...(byTool.get(tool) ?? []), readCallData(text)]);
  }
  const result: Record<string, unknown> = {};
  for (const [tool, all] of byTool) {
    const [only] = all;
    if (all.length > 1 || typeof only !== "object" || only === null)
      result[tool] = all.length > 1 ? all : only;
    else Object.assign(result, only);
  }
  return result;
}

/** What a call gave: the value of an answer that is JSON, else its text. */
export function readCallData(text: string): unknown {
  const parsed = text.startsWith("{") ? parseJson(text) : null;
  return parsed?.ok ? parsed.value : text;
}

function notesOf(state: IntentState): string {
  const { assessment, calls, iteration } = state;
  const failed = calls.flatMap(({ tool, fault }) => (fault ? [`${tool}: ${fault.message}`] : []));
  const left = outstanding(state);
  return [
    assessment?.notes,
    assessment?.assumptions.length && `Assumed: ${assessment.assumptions.join("; ")}`,
    iteration > 0 && `${calls.length} calls in ${iteration} turns`,
    failed.length > 0 && `Failed: ${failed.join("; ")}`,
    iteration > 0 && left.length > 0 && `Not done: ${left.join(", ")}`,
  ]
    .filter(Boolean)
    .join(". ");
}

/** The fields as lines that a model reads. */
export function contextText({ request, tools, params, status, result, notes }: IntentContext): string {
  return [
    `REQUEST: ${request}`,
    `TOOLS: [${tools.join(", ")}]`,
    `PARAMS: ${JSON.stringify(params)}`,
    `STATUS: ${status}`,
    `RESULT: ${JSON.stringify(result)}`,
    `Notes: ${notes}`,
  ].join("\n");
}

const LONGEST_VALUE = 2_000;

/** The fields as a row keeps them: long results stand in the rows of their calls already. */
export function contextForRecord(context: IntentContext): IntentContext {
  const entries = Object.entries(context.result).map(([name, value]) => {
    const { length } = JSON.stringify(value) ?? "";
    return [name, length > LONGEST_VALUE ? `(${length} characters; the call's own row has them)` : value];
  });
  return { ...context, result: Object.fromEntries(entries) };
}
