import type { Assessment } from "../../schema/intent.ts";
import { parseJson } from "../../tools/validate-input.ts";

/** What the model made of a request, or what is wrong with its words. */
export type ParsedAssessment = { ok: true; assessment: Assessment } | { ok: false; problem: string };

/** Reads an assessment out of a reply: one JSON object, bare, in a code block, or amid other words. */
export function parseAssessment(text: string): ParsedAssessment {
  const json = objectIn(text);
  if (json === undefined) return { ok: false, problem: "the reply holds no JSON object" };
  const parsed = parseJson(json);
  if (!parsed.ok) return { ok: false, problem: parsed.message };
  const given = parsed.value as Record<string, unknown>;
  const missing = namesIn(given.missing);
  const tools = namesIn(given.tools);
  if (tools.length === 0 && missing.length === 0 && given.status !== "failed")
    return { ok: false, problem: '"tools" names no tool, and "missing" does not say what is missing' };
  if (given.params !== undefined && !isRecord(given.params))
    return { ok: false, problem: '"params" is not an object' };
  const sequence = namesIn(given.sequence).filter((name) => tools.includes(name));
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

function objectIn(text: string): string | undefined {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1]?.trim();
  if (fenced?.startsWith("{")) return fenced;
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  return from >= 0 && to > from ? text.slice(from, to + 1) : undefined;
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
