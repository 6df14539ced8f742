// What tools answer: JSON within bounds, in which nothing is invisible.

import type { ToolOutput } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";

/** What a tool of this pack found or did. */
export type ToolAnswer = {
  readonly data: object;
  /** Words of other people are in it. */
  readonly tainted?: boolean;
};

/** Characters that an output may have, so that it stays in the conversation as a whole. */
const MAX_CHARS = 28_000;
/** Characters that are invisible, or turn or end a line, and so can hide words. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u{e0000}-\u{e01ef}]/gu;
/** A joiner or a picture mark that belongs to the picture before it. */
const IN_PICTURE =
  /(?<=\p{Extended_Pictographic}\ufe0f?|[\u{1f3fb}-\u{1f3ff}])\u200d(?=\p{Extended_Pictographic})/gu;

const PICTURE_MARK = /(?<=[\p{Extended_Pictographic}\d#*])\ufe0f/gu;

/** An answer as the model and the host read it: JSON in which nothing is invisible. */
export function writeJsonOutput({ data, tainted }: ToolAnswer): ToolOutput {
  return { text: writeVisibleJson(data), ...(tainted && { tainted }) };
}

/** Data as JSON in which nothing is invisible. */
export function writeVisibleJson(data: object): string {
  return JSON.stringify(data, (_key, value: unknown) =>
    typeof value === "string" ? writeVisible(value) : value,
  );
}

/** The beginning of a text, with a note on how much is missing. */
export function cutText(text: string, limit: number): string {
  // No more of a long text is processed than can be shown; only line ends become shorter.
  const near = cutAt(text, 2 * limit + 2);
  const shown = writeVisible(near);
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
  const takeItems = (count: number) => {
    const kept = keep === "first" ? items.slice(0, count) : items.slice(items.length - count);
    const left = items.length - count;
    return { ...build(kept), ...(left > 0 && { left_out: left }) };
  };
  const fits = (data: object) => writeVisibleJson(data).length <= MAX_CHARS;
  const all = takeItems(items.length);
  if (items.length === 0 || fits(all)) return all;
  let [most, tooMany] = [0, items.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(takeItems(middle))) most = middle;
    else tooMany = middle;
  }
  return takeItems(most);
}

/** Data with as much of a text as there is room for. */
export function fitText(text: string, build: (text: string) => object): object {
  let limit = MAX_CHARS;
  while (true) {
    const data = build(cutText(text, limit));
    if (limit < 100 || writeVisibleJson(data).length <= MAX_CHARS) return data;
    limit = Math.floor(limit * 0.8);
  }
}

/** A text with everything invisible written out as `\u{…}`, so that what is read is what is there. */
export function writeVisible(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  const marks = [IN_PICTURE, PICTURE_MARK].flatMap((pattern) => [...lines.matchAll(pattern)]);
  const kept = new Set(marks.map(({ index }) => index));
  return lines.replaceAll(HIDDEN, (char, at: number) =>
    kept.has(at) ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Whether a text holds something that no reader sees. */
export function hasHiddenText(text: string): boolean {
  return writeVisible(text) !== text.replaceAll("\r\n", "\n");
}

/** The visible text on one line. */
export function revealLine(text: string): string {
  return writeVisible(text.replaceAll(/[\r\n\t]+/g, " ")).trim();
}
