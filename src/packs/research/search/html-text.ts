import { findOwn } from "../../../schema/find-own.ts";

/** Elements whose content is no text, and those around the text that every page of a site has. */
const PASSED_OVER = new Set(
  "script style noscript template svg math iframe object canvas select button form nav aside footer".split(
    " ",
  ),
);
const INLINE = new Set(
  "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  times: "×",
  deg: "°",
  micro: "µ",
  euro: "€",
  pound: "£",
  copy: "©",
  middot: "·",
};
const TAG_NAME = /<\/?([a-z][a-z0-9-]*)/y;

/** The readable text of a page for an index: rough, but in time that grows only with the page's length. */
export function htmlText(html: string): { title: string; text: string } {
  // Only what tags are made of: `İ` in lower case is two characters, and places in both texts must agree.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const title = plain(between(html, lower, "title"));
  const heading = plain(between(html, lower, "h1"));
  // A title mostly has the site's name at one end.
  const isInTitle = heading !== "" && title.includes(heading);
  const start = Math.max(0, lower.indexOf("<body"));
  return { title: isInTitle ? heading : title || heading, text: plain(stripTags(html, lower, start)) };
}

/** What is written in a text with references such as `&amp;`, on one line. */
export function plain(text: string): string {
  return text
    .replaceAll(
      /&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi,
      (whole, name: string) => decoded(name) ?? whole,
    )
    .replaceAll(/\s+/g, " ")
    .trim();
}

function decoded(name: string): string | undefined {
  if (!name.startsWith("#")) return findOwn(ENTITIES, name.toLowerCase());
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCodePoint(code)
    : " ";
}

/** The text of the first element of a name, its own tags removed. */
function between(html: string, lower: string, name: string): string {
  const open = lower.indexOf(`<${name}`);
  const from = open < 0 ? -1 : lower.indexOf(">", open);
  const to = from < 0 ? -1 : lower.indexOf(`</${name}`, from);
  return to < 0 ? "" : stripTags(html.slice(from + 1, to), lower.slice(from + 1, to), 0);
}

function stripTags(html: string, lower: string, start: number): string {
  const parts: string[] = [];
  /** Names that are never closed any more; looking for their end again and again would take too long. */
  const unclosed = new Set<string>();
  let at = start;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) break;
    parts.push(html.slice(at, open));
    if (lower.startsWith("<!--", open)) {
      const end = unclosed.has("!--") ? -1 : lower.indexOf("-->", open + 4);
      if (end < 0) unclosed.add("!--");
      at = end < 0 ? open + 4 : end + 3;
      continue;
    }
    TAG_NAME.lastIndex = open;
    const name = TAG_NAME.exec(lower)?.[1];
    if (name === undefined && lower[open + 1] !== "!" && lower[open + 1] !== "?" && lower[open + 1] !== "/") {
      parts.push("<");
      at = open + 1;
      continue;
    }
    const end = lower.indexOf(">", open);
    if (end < 0) return parts.join("");
    at = end + 1;
    if (name === undefined || !INLINE.has(name)) parts.push(" ");
    if (name !== undefined && lower[open + 1] !== "/" && PASSED_OVER.has(name) && !unclosed.has(name)) {
      const close = lower.indexOf(`</${name}`, at);
      if (close < 0) unclosed.add(name);
      else at = close;
    }
  }
  parts.push(html.slice(at));
  return parts.join("");
}
