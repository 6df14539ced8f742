import type { ChangedFile } from "../schema/result.ts";

/** One line per file and a sum, such as `src/a.ts | +3 -1`. */
export function showChangedFiles(patches: readonly ChangedFile[]): string[] {
  const width = Math.max(0, ...patches.map(({ path }) => path.length));
  const lines = patches.map(({ path, kind, added, removed }) => {
    const counts = added === null ? "not text" : `+${added} -${removed}`;
    return `${path.padEnd(width)} | ${counts}${kind === "modified" ? "" : ` (${kind})`}`;
  });
  const sum = (pick: (file: ChangedFile) => number | null) =>
    patches.reduce((total, file) => total + (pick(file) ?? 0), 0);
  const files = patches.length === 1 ? "1 file" : `${patches.length} files`;
  return [...lines, `${files}, +${sum(({ added }) => added)} -${sum(({ removed }) => removed)}`];
}
