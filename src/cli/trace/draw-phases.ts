import type { TracePhase } from "../../schema/inspect/trace.ts";
import { plainLine } from "../plain-text.ts";

const MAX_VALUE = 160;

/** The phases of a run in their order; with `whole`, the six fields of each. Nothing for a run without phases. */
export function drawPhases(phases: readonly TracePhase[], whole: boolean): string[] {
  if (phases.length === 0) return [];
  if (whole) return phases.flatMap(drawPhase);
  const names = phases.map(({ phase, context }) => (phase === "end" ? plainLine(context.status, 20) : phase));
  return [`phases: ${names.join(" → ")}`];
}

function drawPhase({ phase, context }: TracePhase): string[] {
  const value = (given: unknown) =>
    plainLine(typeof given === "string" ? given : (JSON.stringify(given) ?? ""), MAX_VALUE);
  return [
    `phase: ${phase}`,
    `  REQUEST: ${value(context.request)}`,
    `  TOOLS: ${value(context.tools.join(", "))}`,
    `  PARAMS: ${value(context.params)}`,
    `  STATUS: ${value(context.status)}`,
    `  RESULT: ${value(context.result)}`,
    `  Notes: ${value(context.notes)}`,
  ];
}
