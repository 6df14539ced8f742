/** One line of a file as it is after the change. */
export type NewLine = { at: number; text: string; added: boolean };

/** What a diff says about one file. */
export type FileDiff = {
  /** Its path after the change, or before it if it is gone. */
  path: string;
  status: "added" | "deleted" | "modified" | "renamed";
  binary: boolean;
  /** Runs of lines, changed ones and those around them. */
  hunks: readonly (readonly NewLine[])[];
  removed: readonly string[];
};

/** A diff, and whether a part of it was left out before it came here. */
type Diff = { files: readonly FileDiff[]; cut: boolean };

type Draft = FileDiff & { hunks: NewLine[][]; removed: string[] };

/** A run of lines that is being read, and how many of it are still to come. */
type OpenHunk = { at: number; oldLeft: number; newLeft: number; lines: NewLine[] };

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const LEFT_OUT = /^\[… \d+ characters left out|^\(the diff is longer and was cut here/;

/** Reads a unified diff of git. What comes before the first file is skipped; half a hunk is read as far as it goes. */
export function readDiff(text: string): Diff {
  const files: Draft[] = [];
  let file: Draft | undefined;
  let hunk: OpenHunk | undefined;
  let cut = false;
  for (const line of text.split("\n")) {
    if (hunk && hunk.oldLeft + hunk.newLeft > 0 && takeLine(line, hunk, file)) continue;
    if (hunk && hunk.oldLeft + hunk.newLeft > 0) cut = true;
    hunk = undefined;
    const start = HUNK.exec(line);
    if (line.startsWith("diff --git ")) {
      file = startFile(line);
      files.push(file);
    } else if (LEFT_OUT.test(line)) {
      cut = true;
      file = undefined;
    } else if (start && file) {
      const lines: NewLine[] = [];
      file.hunks.push(lines);
      hunk = {
        at: Number(start[2]),
        oldLeft: Number(start[1] ?? 1),
        newLeft: Number(start[3] ?? 1),
        lines,
      };
    } else if (file) readHeader(line, file);
  }
  if (hunk && hunk.oldLeft + hunk.newLeft > 0) cut = true;
  return { files, cut };
}

/** A whole file as if all of it were new, so that the same rules can look at it. */
export function toDiff(path: string, lines: readonly { at: number; text: string }[]): FileDiff {
  return {
    path,
    status: "modified",
    binary: false,
    hunks: [lines.map(({ at, text }) => ({ at, text, added: true }))],
    removed: [],
  };
}

function takeLine(line: string, hunk: OpenHunk, file: Draft | undefined): boolean {
  const mark = line[0] ?? " ";
  const text = line.slice(1);
  if (mark === "\\") return true;
  if (mark === "-") {
    hunk.oldLeft--;
    file?.removed.push(text);
    return true;
  }
  if (mark !== "+" && mark !== " ") return false;
  hunk.lines.push({ at: hunk.at++, text, added: mark === "+" });
  hunk.newLeft--;
  if (mark === " ") hunk.oldLeft--;
  return true;
}

function startFile(line: string): Draft {
  const path = /^diff --git "?a\/.*?"? "?b\/(.*?)"?$/.exec(line)?.[1] ?? line.slice("diff --git ".length);
  return { path, status: "modified", binary: false, hunks: [], removed: [] };
}

function readHeader(line: string, file: Draft): void {
  const [, word = "", value = ""] =
    /^(new file|deleted file|rename to|\+\+\+ b|--- a|Binary files|GIT binary patch) ?\/?(.*)$/.exec(line) ??
    [];
  if (word === "new file") file.status = "added";
  else if (word === "deleted file") file.status = "deleted";
  else if (word === "rename to") {
    file.status = "renamed";
    file.path = value;
  } else if (word === "+++ b" || (word === "--- a" && file.status === "deleted"))
    file.path = value.replace(/^"|"$|\t$/g, "");
  else if (/binary/i.test(word)) file.binary = true;
}

/** A changed file and how many lines of it. */
export type ListedChange = {
  path: string;
  added: number;
  removed: number;
  kind: "text" | "binary" | "untracked";
};

const LINE = /^ (?:.* => )?(\S.*?) \| (?:\+(\d+) -(\d+)|(binary|untracked))$/gm;

/** Reads the list of files that `git_diff` begins with. */
export function readListedChanges(text: string): ListedChange[] {
  const [list = ""] = text.split(/\n\n|\ndiff --git /, 1);
  return [...list.matchAll(LINE)].map(([, path = "", added = "0", removed = "0", kind]) => ({
    path,
    added: Number(added),
    removed: Number(removed),
    kind: kind === "binary" || kind === "untracked" ? kind : "text",
  }));
}

/** Id and subject of the commit that a diff is of. */
export function readCommit(text: string): { id: string; subject: string } | undefined {
  const [, id, subject = ""] = /^commit ([0-9a-f]+) .*?, \d{4}-\d\d-\d\d: (.*)$/m.exec(text) ?? [];
  return id ? { id, subject } : undefined;
}
