const MAX_HTML_CHARS = 2_000_000;
const MAX_TEXT_CHARS = 1_000_000;
const UNSEEN = new Set(["head", "script", "style", "template", "noscript", "title", "object", "svg", "math"]);
const BLOCKS = new Set(
  "address article aside blockquote br div dl dt dd figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul".split(
    " ",
  ),
);
const CELLS = new Set(["td", "th"]);
const HIDDEN_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9])/i;

type Node = {
  nodeName: string;
  value?: string;
  attrs?: readonly { name: string; value: string }[];
  childNodes?: readonly Node[];
};

/** The text that a reader of an HTML mail sees: what is hidden is left out, and a link shows where it leads. */
export async function htmlToText(html: string): Promise<string> {
  const { parse } = await import("parse5");
  const root: Node = parse(html.slice(0, MAX_HTML_CHARS));
  const parts: string[] = [];
  // A stack of its own: hostile mails nest deeper than calls can.
  const todo: (Node | string)[] = [root];
  let length = 0;
  while (todo.length > 0 && length < MAX_TEXT_CHARS) {
    const next = todo.pop();
    if (next === undefined) break;
    const text = typeof next === "string" ? next : enter(next, todo);
    length += text.length;
    parts.push(text);
  }
  return tidy(parts.join(""));
}

/** The text of a node by itself; what follows from it is put on the stack. */
function enter(node: Node, todo: (Node | string)[]): string {
  if (node.nodeName === "#text") return (node.value ?? "").replaceAll(/[\s\u00A0]+/g, " ");
  if (isUnseen(node)) return "";
  const isBlock = BLOCKS.has(node.nodeName);
  if (isBlock) todo.push("\n");
  if (CELLS.has(node.nodeName)) todo.push(" ");
  const target = node.nodeName === "a" ? attribute(node, "href") : "";
  if (/^(https?|mailto):/i.test(target)) todo.push(` (${target})`);
  for (const child of [...(node.childNodes ?? [])].reverse()) todo.push(child);
  if (node.nodeName === "li") return "\n- ";
  return isBlock ? "\n" : "";
}

function isUnseen(node: Node): boolean {
  if (UNSEEN.has(node.nodeName)) return true;
  return (node.attrs ?? []).some(
    ({ name, value }) => name === "hidden" || (name === "style" && HIDDEN_STYLE.test(value)),
  );
}

function attribute(node: Node, wanted: string): string {
  return node.attrs?.find(({ name }) => name === wanted)?.value.trim() ?? "";
}

function tidy(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
