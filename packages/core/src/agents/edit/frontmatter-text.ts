import { normaliseText } from "../yaml/split-frontmatter.ts";

/** A file cut where its frontmatter and its body begin and end, every byte of it in one of the parts. */
export type FileParts = {
  /** Byte order mark, blank lines and the opening fence. */
  head: string;
  yaml: string;
  /** The closing fence with its line end. */
  fence: string;
  body: string;
};

/** Cuts a file that has a frontmatter; null for one without. */
export function cutFile(text: string): FileParts | null {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const bare = lines.map((line) => normaliseText(line).replace(/\n$/, ""));
  const first = bare.findIndex((line) => line.trim() !== "");
  if (!/^---(?:[ \t]*ya?ml)?[ \t]*$/i.test(bare[first] ?? "")) return null;
  const closing = bare.findIndex((line, index) => index > first && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (closing === -1) return null;
  const join = (from: number, to: number): string => lines.slice(from, to).join("");
  return {
    head: join(0, first + 1),
    yaml: join(first + 1, closing),
    fence: join(closing, closing + 1),
    body: join(closing + 1, lines.length),
  };
}

/** The line end that a text uses first; `\n` if it has none. */
export function lineEndOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
}

/** A changed text with the line ends of the one it was made from; lines that are new get the usual one. */
export function withLineEnds(before: string, after: string, usual: string): string {
  const old = before.split(/(?<=\r\n|\n|\r(?!\n))/);
  const plain = old.map(normaliseText);
  const fresh = after.split(/(?<=\n)/);
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && plain[start] === fresh[start]) start++;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && plain[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const middle = fresh.slice(start, fresh.length - end).map((line) => line.replace(/\n$/, usual));
  return [...old.slice(0, start), ...middle, ...old.slice(old.length - end)].join("");
}

/** A body with another prompt in it; the blank lines around it stay. */
export function withPrompt(body: string, prompt: string, usual: string): string {
  const lead = body.slice(0, body.length - body.trimStart().length);
  const tail = lead === body ? "" : body.slice(body.trimEnd().length);
  const text = normaliseText(prompt).trim().replaceAll("\n", usual);
  if (text === "") return lead;
  return `${lead}${text}${tail === "" && lead === body ? usual : tail}`;
}

/** A file around a body that had no frontmatter. */
export function withFrontmatter(text: string, usual: string): FileParts {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return { head: `${mark}---${usual}`, yaml: "", fence: `---${usual}`, body: text.slice(mark.length) };
}
