/** Longest description taken from a text. */
const MAX_CHARS = 300;
const HEADING = /^#{1,6}[ \t]/;

/**
 * A description out of a text without frontmatter: its first paragraph, or its first heading if that is all there
 * is. Undefined when the text begins with anything else, such as a table, code or an image.
 */
export function describePlainText(body: string): string | undefined {
  let heading: string | undefined;
  for (const paragraph of body.slice(0, 20_000).split(/\n[ \t]*\n/)) {
    const lines = paragraph.split("\n").map((line) => line.trim());
    const headings = lines.filter((line) => HEADING.test(line));
    heading ??= headings[0]?.replaceAll(/^#+[ \t]+|[ \t]+#+$/g, "");
    const text = lines
      .filter((line) => !HEADING.test(line))
      .join(" ")
      .trim();
    if (text === "") continue;
    return startsLikeProse(text) ? shorten(text) : heading && shorten(heading);
  }
  return heading && shorten(heading);
}

function startsLikeProse(text: string): boolean {
  return /^[\p{L}\p{N}"'“*_`]/u.test(text) && !text.startsWith("```");
}

function shorten(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length <= MAX_CHARS ? flat : `${flat.slice(0, MAX_CHARS - 1).trimEnd()}…`;
}
