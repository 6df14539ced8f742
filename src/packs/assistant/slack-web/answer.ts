/** An answer of the service, of which nothing is believed before it is read. */
export type Answer = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one if it is none. */
export function recordIn(value: unknown): Answer {
  return isRecord(value) ? value : {};
}

/** The objects in a list; none if it is no list. */
export function recordsIn(value: unknown): readonly Answer[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The value as text that says something, or undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a number, or undefined. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Where the next page begins; undefined after the last one. */
export function nextCursor(answer: Answer): string | undefined {
  return textIn(recordIn(answer.response_metadata).next_cursor);
}

/** Slack's name of a message within its channel: a moment in seconds with six decimals. */
export function isTimestamp(value: string): boolean {
  return /^\d{1,12}\.\d{6}$/.test(value);
}

/** Written like an id, but perhaps a name in capitals: ids mostly have digits. */
export function isWord(text: string): boolean {
  return /^[A-Z]+$/.test(text);
}

function isRecord(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
