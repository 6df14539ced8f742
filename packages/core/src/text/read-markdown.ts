/** A paragraph, a list item or a table of a text, with the heading it is below. */
export type Block =
  | { readonly kind: "prose"; readonly text: string; readonly section: string }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[]; readonly section: string };

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;
/** What closes a heading is taken off apart: one pattern for both would try every cut of a long run of spaces. */
const HEADING = /^ {0,3}#{1,6}\s+(\S.*)?$/;
/** A heading as plain texts have it, its edges trimmed. */
const CAPITALS = /^(?=[^\p{Lu}]{0,70}\p{Lu}[^\p{Lu}]{0,70}\p{Lu})[\p{Lu}\d\s'’&:,-]{3,70}$/u;
const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/;
const RULE = /^\s*(?:[-*_=]\s*){3,}$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const MAX_LINE = 20_000;
/** Neither part may hold its own opening bracket, except one pair in an address, so that no run of them is tried twice. */
const LINK = /\[([^[\]]{0,500})\]\([^()]{0,2000}(?:\([^()]{0,500}\)[^()]{0,500})?\)/g;
const IMAGE = new RegExp(`!${LINK.source}`, "g");

/** The readable parts of a Markdown text without its marks; code, images and frontmatter are left out. */
export function readMarkdown(markdown: string): Block[] {
  const blocks: Block[] = [];
  let section = "";
  let open: string[] = [];
  let rows: string[][] = [];
  let fenced = false;
  const flush = () => {
    const text = inlineText(open.join(" ").replace(/(?<=\p{L}-) (?=\p{Lu})/gu, ""));
    if (text !== "") blocks.push({ kind: "prose", text, section });
    if (rows.length > 0) blocks.push({ kind: "table", rows, section });
    [open, rows] = [[], []];
  };
  for (const full of withoutFrontmatter(markdown).split(/\r?\n/)) {
    const line = full.slice(0, MAX_LINE).replace(/^\s*(?:>\s?)+/, "");
    if (FENCE.test(line)) {
      flush();
      fenced = !fenced;
      continue;
    }
    if (fenced) continue;
    const heading = HEADING.test(line) || CAPITALS.test(line.trim());
    const isRow = line.trimStart().startsWith("|");
    if (heading || ITEM.test(line) || RULE.test(line) || line.trim() === "" || (isRow && open.length > 0)) {
      flush();
    }
    if (heading) section = inlineText(headingText(line));
    else if (isRow) {
      if (!TABLE_RULE.test(line)) rows.push(splitCells(line));
    } else if (!RULE.test(line) && line.trim() !== "") {
      if (rows.length > 0) flush();
      open.push(line.replace(ITEM, "").trim());
    }
  }
  flush();
  return blocks;
}

/** The words of a heading without the marks that open and close it. */
function headingText(line: string): string {
  return line
    .trim()
    .replace(/^#{1,6}(?=\s|$)/, "")
    .replace(/(?<!#)#+$/, "")
    .trim();
}

/** A text without Markdown's marks for links, emphasis and code, on one line. */
export function inlineText(markdown: string): string {
  return markdown
    .replace(IMAGE, " ")
    .replace(LINK, "$1")
    .replace(/<\/?[a-z][^<>]{0,500}>/gi, " ")
    .replace(/`+/g, "")
    .replace(/(?<![\p{L}\p{N}\\*_])[*_]{1,3}(?=\S)|(?<=[^\s\\*_])[*_]{1,3}(?![\p{L}\p{N}*_])/gu, "")
    .replace(/\\([\\`*_{}[\]()#+\-.!|<>~])/g, "$1")
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? " ")
    .replace(/\s+/g, " ")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
  "#39": "'",
};

function withoutFrontmatter(markdown: string): string {
  if (!/^---\r?\n/.test(markdown)) return markdown;
  const end = markdown.search(/\r?\n---\r?\n/);
  return end < 0 ? markdown : markdown.slice(end).replace(/^\r?\n---/, "");
}

function splitCells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map(inlineText);
}
