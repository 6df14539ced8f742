import { type FileRule, type Finding, kindOf, languageOf, splitLine } from "./finding.ts";
import { findingAt } from "./line-rules.ts";
import type { NewLine } from "./read-diff.ts";

const LONG_FUNCTION = 80;
const FUNCTION =
  /^(\s*)(?:export\s+)?(?:default\s+)?(?:public\s+|private\s+|protected\s+|static\s+)*(?:async\s+)?(?:function\*?\s+\w+|def\s+\w+|func\s+[\w(]|(?:pub(?:\([^)]*\))?\s+)?fn\s+\w+|(?:const|let)\s+\w+\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::[^=]+)?=>\s*\{)/;
const EXPORTED =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|const|let)\s+(\w+)/;
const CODE_IN_COMMENT =
  /^\s*(?:\/\/|#)\s*(?:(?:const|let|var|return|import|await|if|for|while|def|class|function|throw|raise)\b.*[;{:)]|[\w.]+\(.*\);?|[\w.]+\s*=\s*.+;|\}\s*(?:else\b.*\{)?)\s*$/;

/** Looks at lines together with those around them, and at the file as such. */
export const fileRules: FileRule = (file) => {
  const kind = kindOf(file.path);
  const findings = aboutMode(file);
  if (kind === "prose" || kind === "generated") return findings;
  for (const hunk of file.hunks) {
    findings.push(...droppedErrors(file.path, hunk), ...deadCode(file.path, hunk));
    if (kind === "source") findings.push(...undocumented(file.path, hunk), ...longFunctions(file.path, hunk));
  }
  return findings;
};

function aboutMode({ path, mode, binary, status }: Parameters<FileRule>[0]): Finding[] {
  const { from, to } = mode;
  const finding = (severity: Finding["severity"], what: string): Finding[] => [
    { severity, path, at: 0, what },
  ];
  if (to === "120000") return finding("medium", "a symbolic link was added; make sure where it leads");
  if (to === "160000") return finding("low", "a submodule was added");
  if (from && to && from !== to)
    return finding(
      "low",
      to.endsWith("755") ? "the file became executable" : `its mode changed from ${from} to ${to}`,
    );
  return binary && status === "added"
    ? finding("low", "a binary file was added; it was not looked into")
    : [];
}

/** A catch whose block is empty although it takes more than one line. */
function droppedErrors(path: string, hunk: readonly NewLine[]): Finding[] {
  return hunk.flatMap((line, index) => {
    const next = hunk[index + 1];
    if (!line.added || !next) return [];
    const opens =
      languageOf(path) === "python"
        ? /^\s*except\b.*:\s*$/.test(line.text) && /^\s*pass\s*$/.test(next.text)
        : /\bcatch\s*(?:\([^)]*\))?\s*\{\s*$/.test(line.text) && /^\s*\}/.test(next.text);
    return opens ? [findingAt(path, line, "medium", "an error is caught and dropped")] : [];
  });
}

/** Comments that are code that no longer runs; one finding for lines that stand together. */
function deadCode(path: string, hunk: readonly NewLine[]): Finding[] {
  const isDead = (line: NewLine | undefined) =>
    line?.added === true && CODE_IN_COMMENT.test(line.text) && !/^\s*#!/.test(line.text);
  return hunk.flatMap((line, index) =>
    isDead(line) && !isDead(hunk[index - 1])
      ? [findingAt(path, line, "low", "this looks like code that was commented out")]
      : [],
  );
}

/** New exported names without a comment; where the line above is not known, nothing is said. */
function undocumented(path: string, hunk: readonly NewLine[]): Finding[] {
  if (languageOf(path) !== "ts" && languageOf(path) !== "js") return [];
  return hunk.flatMap((line, index) => {
    const name = line.added ? EXPORTED.exec(line.text)?.[1] : undefined;
    const above = hunk[index - 1];
    const known = above !== undefined || line.at === 1;
    if (name === undefined || !known || /(?:\*\/|^\s*\/\/.*|^\s*@\w.*)\s*$/.test(above?.text ?? ""))
      return [];
    return [findingAt(path, line, "low", `the exported \`${name}\` says nothing about itself`)];
  });
}

/** New functions that go on for very long, as far as they are within one piece of the diff. */
function longFunctions(path: string, hunk: readonly NewLine[]): Finding[] {
  return hunk.flatMap((line, index) => {
    const indent = line.added ? FUNCTION.exec(line.text)?.[1] : undefined;
    if (indent === undefined) return [];
    const rest = hunk.slice(index + 1);
    const end = rest.findIndex(
      ({ text }) => text.trim() !== "" && text.length - text.trimStart().length <= indent.length,
    );
    const length = (end < 0 ? rest.length : end) + 1;
    if (length <= LONG_FUNCTION || splitLine(line.text, path).code.trim() === "") return [];
    return [findingAt(path, line, "low", `this function has ${end < 0 ? "at least " : ""}${length} lines`)];
  });
}
