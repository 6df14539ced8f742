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
  // However long a text is, no more of it is worked on than can be shown; only line ends become shorter.
  const near = cutAt(text, 2 * limit + 2);
  const shown = visibleText(near);
  const unread = text.length - near.length;
  if (shown.length <= limit && unread === 0) return shown;
  const head = cutAt(shown, limit);
  return `${head}… (${shown.length - head.length + unread} more characters)`;
}

/** Data with as many items as there is room for; `left_out` counts the others. */
export function fitItems<Item>(
  items: readonly Item[],
  build: (items: readonly Item[]) => object,
  keep: "first" | "last" = "first",
): object {
  const dataOf = (count: number) => {
    const kept = keep === "first" ? items.slice(0, count) : items.slice(items.length - count);
    const left = items.length - count;
    return { ...build(kept), ...(left > 0 && { left_out: left }) };
  };
  const fits = (data: object) => jsonText(data).length <= MAX_CHARS;
  const all = dataOf(items.length);
  if (items.length === 0 || fits(all)) return all;
  let [most, tooMany] = [0, items.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(dataOf(middle))) most = middle;
    else tooMany = middle;
  }
  return dataOf(most);
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
