import type { IntentContext, Phase } from "../../schema/intent.ts";
import type { MessageNode } from "../../schema/record.ts";
import { plainLine } from "../plain-text.ts";

const MAX_VALUE = 160;

/** What the rows of an intent flow tell of its phases. */
type Step = { phase: Phase | "end"; context: IntentContext };

/** The phases of a run in their order; with `whole`, the six fields of each. Nothing for a run without phases. */
export function drawPhases(run: MessageNode, whole: boolean): string[] {
  const steps = stepsOf(run);
  if (steps.length === 0) return [];
  if (whole) return steps.flatMap(drawStep);
  const names = steps.map(({ phase, context }) => (phase === "end" ? context.status : phase));
  return [`phases: ${names.join(" → ")}`];
}

function stepsOf(run: MessageNode): Step[] {
  const steps = run.children.flatMap((row): Step[] => {
    const { phase, context } = metadataOf(row);
    return phase && context ? [{ phase, context }] : [];
  });
  const last = metadataOf(run).result?.context;
  return last && steps.length > 0 ? [...steps, { phase: "end", context: last }] : steps;
}

function drawStep({ phase, context }: Step): string[] {
  const value = (given: unknown) =>
    plainLine(typeof given === "string" ? given : JSON.stringify(given), MAX_VALUE);
  return [
    `phase: ${phase}`,
    `  REQUEST: ${value(context.request)}`,
    `  TOOLS: ${value(context.tools.join(", "))}`,
    `  PARAMS: ${value(context.params)}`,
    `  STATUS: ${context.status}`,
    `  RESULT: ${value(context.result)}`,
    `  Notes: ${value(context.notes)}`,
  ];
}

type Metadata = { phase?: Phase; context?: IntentContext; result?: { context?: IntentContext } };

function metadataOf({ metadata_json: json }: MessageNode): Metadata {
  try {
    return (JSON.parse(json ?? "{}") as Metadata | null) ?? {};
  } catch {
    return {};
  }
}
