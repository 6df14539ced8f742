/** What no reader sees, and what turns or ends a line: a place to hide words in. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u{e0000}-\u{e01ef}]/gu;

/** A joiner or a picture mark that belongs to the picture before it. */
const IN_PICTURE =
  /(?<=\p{Extended_Pictographic}\ufe0f?|[\u{1f3fb}-\u{1f3ff}])\u200d(?=\p{Extended_Pictographic})/gu;
const PICTURE_MARK = /(?<=[\p{Extended_Pictographic}\d#*])\ufe0f/gu;
const KEPT: readonly (readonly [RegExp, string])[] = [
  [IN_PICTURE, "\u200d"],
  [PICTURE_MARK, "\ufe0f"],
];

/** A text with everything invisible written out as `\u{…}`, so that what is read is what is there. */
export function visibleText(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  const kept = new Set(KEPT.flatMap(([pattern]) => [...lines.matchAll(pattern)].map(({ index }) => index)));
  return lines.replaceAll(HIDDEN, (char, at: number) =>
    kept.has(at) ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Whether a text holds something that no reader sees. */
export function hasHiddenText(text: string): boolean {
  return visibleText(text) !== text.replaceAll("\r\n", "\n");
}

/** The visible text on one line. */
export function visibleLine(text: string): string {
  return visibleText(text.replaceAll(/[\r\n\t]+/g, " ")).trim();
}
