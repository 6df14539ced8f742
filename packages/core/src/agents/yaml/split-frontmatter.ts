/** A file's text cut into frontmatter and body; lines count from 1. */
export type SplitFile =
  | { kind: "none"; body: string }
  | { kind: "found"; yaml: string; yamlLine: number; body: string }
  | { kind: "unclosed"; line: number; lastKeyLine: number }
  | { kind: "foreign"; line: number; language: string };

/** Removes a byte order mark and turns every line end into `\n`. */
export function normaliseText(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}

/**
 * Finds the frontmatter of a normalised text. Blank lines before it are tolerated. A fence that names a
 * language other than YAML is reported as foreign and its content is never looked at.
 */
export function splitFrontmatter(text: string): SplitFile {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const opening = /^---(?:[ \t]*([A-Za-z][\w+.-]*))?[ \t]*$/.exec(lines[first] ?? "");
  if (opening === null) return { kind: "none", body: text.trim() };
  const language = opening[1]?.toLowerCase();
  if (language !== undefined && language !== "yaml" && language !== "yml") {
    return { kind: "foreign", line: first + 1, language };
  }
  const closing = lines.findIndex((line, index) => index > first && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (closing === -1) return { kind: "unclosed", line: first + 1, lastKeyLine: lastKeyLine(lines, first) };
  return {
    kind: "found",
    yaml: lines.slice(first + 1, closing).join("\n"),
    yamlLine: first + 2,
    body: lines
      .slice(closing + 1)
      .join("\n")
      .trim(),
  };
}

function lastKeyLine(lines: readonly string[], first: number): number {
  let last = first + 1;
  for (let index = first + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line.trim() === "" || line.startsWith("#")) break;
    last = index + 1;
  }
  return last;
}
