/** A token count as servers should send it; anything else is unknown, never a number to charge by. */
export function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A text, or nothing in place of anything else. */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Whether text is a complete JSON document. */
export function isCompleteJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
