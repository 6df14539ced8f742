import { isRecord } from "../schema/json-object.ts";
import { parseJson, type Validated } from "../tools/validate-input.ts";
import type { Assessment } from "./intent-shapes.ts";

/** What the model made of a request, or what is wrong with its words. */
export type ParsedAssessment = { ok: true; assessment: Assessment } | { ok: false; problem: string };

/** Reads an assessment out of a reply: one JSON object, bare, in a code block, or amid other words. */
export function parseAssessment(text: string): ParsedAssessment {
  const parsed = objectIn(text);
  if (!parsed.ok) return { ok: false, problem: parsed.message };
  const given = parsed.value as Record<string, unknown>;
  const missing = namesIn(given.missing).filter((each) => !/^(none|nothing|n\/a|-)\.?$/i.test(each.trim()));
  const tools = namesIn(given.tools);
  const planned = new Set(tools);
  if (tools.length === 0 && missing.length === 0 && given.status !== "failed")
    return { ok: false, problem: '"tools" names no tool, and "missing" does not say what is missing' };
  if (given.params !== undefined && !isRecord(given.params))
    return { ok: false, problem: '"params" is not an object' };
  const sequence = namesIn(given.sequence).filter((name) => planned.has(name));
  return {
    ok: true,
    assessment: {
      request: textOf(given.request),
      tools,
      params: isRecord(given.params) ? given.params : {},
      status: given.status === "failed" || tools.length === 0 || missing.length > 0 ? "failed" : "planning",
      result: {},
      notes: textOf(given.notes),
      expected_format: textOf(given.expected_format),
      success_criteria: textOf(given.success_criteria),
      risk: given.risk === "low" || given.risk === "medium" ? given.risk : "high",
      sequence: sequence.length > 0 ? sequence : tools,
      error_plan: textOf(given.error_plan),
      assumptions: namesIn(given.assumptions),
      missing,
      confidence: typeof given.confidence === "number" ? Math.min(1, Math.max(0, given.confidence)) : 0.5,
    },
  };
}

/** From the first brace to the last one; if that is no object, what stands in a code block. */
function objectIn(text: string): Validated {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from < 0 || to < from) return { ok: false, message: "the reply holds no JSON object" };
  const whole = parseJson(text.slice(from, to + 1));
  if (whole.ok) return whole;
  const blocks = text.split("```").filter((_, index) => index % 2 === 1);
  for (const block of blocks) {
    const body = block.replace(/^json/i, "").trim();
    const parsed = body.startsWith("{") ? parseJson(body) : whole;
    if (parsed.ok) return parsed;
  }
  return whole;
}

/** More names than a run could make calls. */
const MAX_NAMES = 200;

function namesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const names = value.filter((each): each is string => typeof each === "string" && each.trim() !== "");
  return names.slice(0, MAX_NAMES);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
