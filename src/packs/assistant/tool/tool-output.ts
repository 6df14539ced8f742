import type { ToolOutput } from "../../../tools/tool.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { visibleText } from "./visible-text.ts";

/** What a tool of this pack found or did. */
export type Answer = {
  readonly data: object;
  /** Words of other people are in it. */
  readonly tainted?: boolean;
};

/** Characters that an output may have, so that it stays in the conversation as a whole. */
const MAX_CHARS = 28_000;

/** An answer as the model and the host read it: JSON in which nothing is invisible. */
export function jsonOutput({ data, tainted }: Answer): ToolOutput {
  return { text: jsonText(data), ...(tainted && { tainted }) };
}

/** Data as JSON in which nothing is invisible. */
export function jsonText(data: object): string {
  return JSON.stringify(data, (_key, value: unknown) =>
    typeof value === "string" ? visibleText(value) : value,
  );
}

/** The beginning of a text, with a note on how much is missing. */
export function cutText(text: string, limit: number): string {
  const shown = visibleText(text);
  if (shown.length <= limit) return shown;
  const head = cutAt(shown, limit);
  return `${head}… (${shown.length - head.length} more characters)`;
}

/** Data with as many items as there is room for; `left_out` counts the others. */
export function fitItems<Item>(
  items: readonly Item[],
  build: (items: readonly Item[]) => object,
  keep: "first" | "last" = "first",
): object {
  let count = items.length;
  while (true) {
    const kept = keep === "first" ? items.slice(0, count) : items.slice(items.length - count);
    const left = items.length - count;
    const data = { ...build(kept), ...(left > 0 && { left_out: left }) };
    if (count === 0 || jsonText(data).length <= MAX_CHARS) return data;
    count = Math.min(count - 1, Math.floor(count * 0.85));
  }
}

/** Data with as much of a text as there is room for. */
export function fitText(text: string, build: (text: string) => object): object {
  let limit = MAX_CHARS;
  while (true) {
    const data = build(cutText(text, limit));
    if (limit < 100 || jsonText(data).length <= MAX_CHARS) return data;
    limit = Math.floor(limit * 0.8);
  }
}
