import { make } from "./dom.js";

const FENCE = /^\s*```/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*\d{1,9}[.)]\s+(.*)$/;
const MOST_LINES = 4000;

/** An answer as people wrote it: headings, lists, code and emphasis, and never anything to load or to click. */
export function answer(text) {
  const lines = text.split("\n");
  if (lines.length > MOST_LINES) return make("pre", "text", text);
  const box = make("div", "answer");
  for (let at = 0; at < lines.length; ) at = block(lines, at, box);
  return box;
}

function block(lines, at, box) {
  const line = lines[at];
  if (line.trim() === "") return at + 1;
  if (FENCE.test(line)) return fenced(lines, at, box);
  const heading = HEADING.exec(line);
  if (heading) {
    box.append(make("p", `heading h${Math.min(3, heading[1].length)}`, ...inline(heading[2])));
    return at + 1;
  }
  if (BULLET.test(line)) return list(lines, at, box, "ul", BULLET);
  if (NUMBER.test(line)) return list(lines, at, box, "ol", NUMBER);
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines[end])) end++;
  box.append(make("p", "", ...inline(lines.slice(at, end).join("\n"))));
  return end;
}

function startsBlock(line) {
  return line.trim() === "" || [FENCE, HEADING, BULLET, NUMBER].some((form) => form.test(line));
}

function fenced(lines, at, box) {
  let end = at + 1;
  while (end < lines.length && !FENCE.test(lines[end])) end++;
  box.append(make("pre", "", lines.slice(at + 1, end).join("\n")));
  return end + 1;
}

function list(lines, at, box, tag, form) {
  const items = make(tag);
  let end = at;
  for (; end < lines.length && form.test(lines[end]); end++)
    items.append(make("li", "", ...inline(form.exec(lines[end])[1])));
  box.append(items);
  return end;
}

/** Code and strong words within a line. */
function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    if (part.length > 2 && part.startsWith("`")) return make("code", "", part.slice(1, -1));
    if (part.length > 4 && part.startsWith("**")) return make("strong", "", part.slice(2, -2));
    return part;
  });
}
