/** A piece of a text: shown as it is, or a character that would not be seen, with its code in words. */
type VisiblePart = { text: string; isHidden: boolean };

/**
 * Everything that takes no room, turns the order of a line around, or looks like a common space but is none. Line ends and tabs
 * are what they seem, as long as they end a line or move along it.
 */
const HIDDEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What makes pictures of several characters, and means nothing else between and after them. */
const IN_PICTURE =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)\uFE0F|(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)\u200D(?=\p{Extended_Pictographic})/gu;

const LATIN = /\p{Script=Latin}/u;
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/** A text cut where characters hide; those are written as codes such as `⟨U+202E⟩`. Windows line ends become plain ones. */
export function splitHidden(text: string): VisiblePart[] {
  const whole = text.replaceAll("\r\n", "\n");
  const pictured = new Set([...whole.matchAll(IN_PICTURE)].map(({ index }) => index));
  const parts: VisiblePart[] = [];
  let from = 0;
  for (const { index, 0: char } of whole.matchAll(HIDDEN)) {
    if (pictured.has(index)) continue;
    if (index > from) parts.push({ text: whole.slice(from, index), isHidden: false });
    parts.push({ text: writeCode(char), isHidden: true });
    from = index + char.length;
  }
  if (from < whole.length) parts.push({ text: whole.slice(from), isHidden: false });
  return parts;
}

/** The same in one string. */
export function revealHidden(text: string): string {
  return splitHidden(text)
    .map((part) => part.text)
    .join("");
}

/** Words that mix Latin letters with others that look like them, each once: an address may not be the one it seems. */
export function mixedWords(text: string): string[] {
  const words = text.split(/[^\p{L}\p{M}\p{N}_-]+/u);
  return [...new Set(words.filter((word) => LATIN.test(word) && LOOKALIKE.test(word)))];
}

/** Such a word with the codes of its odd letters behind them: `pа⟨U+0430⟩ypal`. */
export function spellOut(word: string): string {
  return [...word]
    .map((char) => (LOOKALIKE.test(char) ? `${char}${writeCode(char)}` : revealHidden(char)))
    .join("");
}

function writeCode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
