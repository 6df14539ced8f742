import { showCount } from "@retinue/core/show/measures";
import { type PastCall, toData } from "./conversation.ts";

/** A JSON object as tools answer it. */
export type CallData = Readonly<Record<string, unknown>>;

/** What a call gave; undefined if it was not made, not answered, failed, or its answer cannot be read. */
export function findData(calls: readonly PastCall[], tool: string): CallData | undefined {
  const past = calls.findLast((call) => call.tool === tool && !call.failed && call.result !== "");
  return past && parseData(past.result);
}

/** The message of a call that failed. */
export function describeFailedCall({ result, tool }: PastCall): string {
  const { error } = parseData(result) ?? {};
  const { message, type } = toData(error);
  const why = typeof message === "string" ? `(${String(type)}): ${message}` : `: ${result.split("\n", 1)[0]}`;
  return `${tool} failed${typeof message === "string" ? " " : ""}${why.replace(/[.\s]*$/, ".")}`;
}

/** A list of objects. */
export function readList(data: CallData | undefined, name: string): CallData[] {
  const value = data?.[name];
  return Array.isArray(value) ? value.map(toData) : [];
}

/** A list of texts. */
export function readTexts(data: CallData | undefined, name: string): string[] {
  const value = data?.[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** A text field; empty if there is none. */
export function readField(data: CallData | undefined, name: string): string {
  const value = data?.[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function parseData(text: string): CallData | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? toData(value) : undefined;
  } catch {
    return undefined;
  }
}

/** How many items of a list are named. */
export const MOST_SHOWN = 8;
const MAX_QUOTE = 240;

/** A list that a tool gave, in words: how many there are, and the first of them. */
export function tellList(
  data: CallData,
  { list, noun }: { list: string; noun: string },
  tell: (item: CallData) => string,
): string {
  const items = readList(data, list);
  if (items.length === 0) return `No ${noun}s were found.`;
  const total = Number(data.total ?? items.length);
  const left = total - MOST_SHOWN;
  return `${showCount(total, noun)}: ${items.slice(0, MOST_SHOWN).map(tell).join("; ")}${left > 0 ? `; and ${left} more` : ""}.`;
}

/** A text as a summary quotes it: on one line, and not longer than it needs to be. */
export function shortenQuote(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)} …` : line;
}
