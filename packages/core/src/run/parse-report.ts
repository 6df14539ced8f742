import { messageOf } from "../schema/error.ts";
import { isRecord } from "../schema/json-object.ts";
import { cutAt } from "../tools/truncate.ts";

/** What a final text says of itself; everything measurable comes from the host instead. */
export type Report = { summary: string; warnings: string[]; suggestions: string[]; data?: unknown };

/** Longest summary of a result. */
export const MAX_SUMMARY_CHARS = 500;
/** A line that begins with a word of ours, as a heading, in bold, in a list, or plain. */
const NAMED =
  /^\s*(?:[-*•]\s+|\d+[.)]\s+)?(?:#{1,6}\s*)?(?<open>\*\*|__)?(?<name>summary|details|warnings?|suggestions?|files (?:modified|created))(?<inside>\s*:)?(?<close>\*\*|__)?(?<colon>\s*:)?(?<rest>.*)$/i;
/** A heading of another name, which ends the section before it. */
const HEADING = /^\s*(?:#{1,6}\s+\S|(?:\*\*|__)[^*_]+(?:\*\*|__)\s*:?\s*$)/;
const FENCE = /^\s*(?:```|~~~)/;

/** Reads summary, warnings and suggestions out of a final text, and data if the text is JSON. */
export function parseReport(text: string): Report {
  const data = parseData(text);
  const fromData = isRecord(data) ? data : {};
  const sections = sectionsOf(text);
  const summary =
    textOf(fromData.summary) ?? sections.get("summary")?.join(" ").trim() ?? firstParagraph(text);
  return {
    summary: shortSummary(summary || firstParagraph(text)),
    warnings: listOf(fromData.warnings) ?? items(sections.get("warning")),
    suggestions: listOf(fromData.suggestions) ?? items(sections.get("suggestion")),
    ...(data !== undefined && { data }),
  };
}

/** The one JSON value that a final text is, alone or in a code fence. */
export function parseAnswer(text: string): { ok: true; value: unknown } | { ok: false; fault: string } {
  try {
    return { ok: true, value: JSON.parse(unfenced(text)) };
  } catch (thrown) {
    return { ok: false, fault: `it is not JSON: ${messageOf(thrown)}` };
  }
}

function parseData(text: string): unknown {
  if (!/^[{[]/.test(unfenced(text))) return undefined;
  const answer = parseAnswer(text);
  return answer.ok ? answer.value : undefined;
}

function unfenced(text: string): string {
  const trimmed = text.trim();
  return /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n```$/.exec(trimmed)?.[1] ?? trimmed;
}

function sectionsOf(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let current: string[] | undefined;
  let isCode = false;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    const named = isCode ? null : readHeading(line);
    if (named) {
      current = named.rest === "" ? [] : [named.rest];
      sections.set(named.name, current);
    } else if (!isCode && HEADING.test(line)) current = undefined;
    else current?.push(line);
  }
  return sections;
}

/** The section that a line begins; a sentence that merely begins with such a word begins none. */
function readHeading(line: string): { name: string; rest: string } | null {
  const { name, open, close, inside, colon, rest = "" } = NAMED.exec(line)?.groups ?? {};
  if (name === undefined) return null;
  const isHeading = (open && close) || ((inside || colon) && !open) || (rest.trim() === "" && !open);
  return isHeading ? { name: name.toLowerCase().replace(/s$/, ""), rest: rest.trim() } : null;
}

function items(lines: readonly string[] | undefined): string[] {
  return (lines ?? [])
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s*/, "").trim())
    .filter((line) => line !== "" && !/^(none|n\/a|-)\.?$/i.test(line));
}

function shortSummary(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_SUMMARY_CHARS ? line : `${cutAt(line, MAX_SUMMARY_CHARS - 1)}…`;
}

/** The first words that are no heading. */
function firstParagraph(text: string): string {
  const body = text.trim().replace(/^(?:#{1,6}[^\n]*(?:\n\s*|$))+/, "");
  return (body || text.replaceAll(/^#+\s*/gm, "")).trim().split(/\n\s*\n/, 1)[0] ?? "";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function listOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : undefined;
}
