/** How many characters of a run's id tell its files apart from those of other runs. */
const ID_CHARS = 8;

/**
 * The name under which a run keeps a file whose usual name another run of the session has: `corpus.json` becomes
 * `corpus-1a2b3c4d.json`. Deliverables count it as the file itself.
 */
export function nameForRun(path: string, runId: string): string {
  return path.replace(/(?:(?<=[^/])\.[^./]*)?$/, (extension) => `-${runId.slice(-ID_CHARS)}${extension}`);
}
