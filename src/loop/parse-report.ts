import { cutAt } from "../tools/truncate.ts";

/** What a final text says of itself; everything measurable comes from the host instead. */
export type Report = { summary: string; warnings: string[]; suggestions: string[]; data?: unknown };

const MAX_SUMMARY_CHARS = 500;
const HEADING =
  /^\s*(?:#{1,6}\s*|\*\*)?(summary|details|warnings?|suggestions?|files (?:modified|created)[^:]*)\s*(?:\*\*)?\s*:?\s*(?:\*\*)?\s*(.*)$/i;

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

function parseData(text: string): unknown {
  const trimmed = text.trim();
  const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n```$/.exec(trimmed)?.[1] ?? trimmed;
  if (!fenced.startsWith("{") && !fenced.startsWith("[")) return undefined;
  try {
    return JSON.parse(fenced);
  } catch {
    return undefined;
  }
}

function sectionsOf(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of text.split("\n")) {
    const heading = line.length < 200 ? HEADING.exec(line) : null;
    if (heading?.[1]) {
      current = heading[2] ? [heading[2]] : [];
      sections.set(heading[1].toLowerCase().replace(/s$/, ""), current);
    } else current?.push(line);
  }
  return sections;
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

function firstParagraph(text: string): string {
  return text.trim().split(/\n\s*\n/, 1)[0] ?? "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function listOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : undefined;
}
