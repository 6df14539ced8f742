import { type FileKind, kindOf } from "./finding.ts";

/** A changed file and how many lines of it. */
export type Size = { path: string; added: number; removed: number; kind: "text" | "binary" | "untracked" };

const WORTH: Readonly<Record<FileKind, number>> = { source: 0, script: 1, test: 2, prose: 3, generated: 4 };
const LINE = /^ (?:.* => )?(\S.*?) \| (?:\+(\d+) -(\d+)|(binary|untracked))$/gm;

/** Reads the list of files that `git_diff` begins with. */
export function sizesIn(text: string): Size[] {
  const [list = ""] = text.split(/\n\n|\ndiff --git /, 1);
  return [...list.matchAll(LINE)].map(([, path = "", added = "0", removed = "0", kind]) => ({
    path,
    added: Number(added),
    removed: Number(removed),
    kind: kind === "binary" || kind === "untracked" ? kind : "text",
  }));
}

/** The files worth most to a reader first: sources, then tests, then documents, what is generated last; smaller first. */
export function byWorth(sizes: readonly Size[]): Size[] {
  return sizes.toSorted(
    (a, b) => WORTH[kindOf(a.path)] - WORTH[kindOf(b.path)] || a.added + a.removed - (b.added + b.removed),
  );
}

/** Id and subject of the commit that a diff is of. */
export function commitIn(text: string): { id: string; subject: string } | undefined {
  const [, id, subject = ""] = /^commit ([0-9a-f]+) .*?, \d{4}-\d\d-\d\d: (.*)$/m.exec(text) ?? [];
  return id ? { id, subject } : undefined;
}
