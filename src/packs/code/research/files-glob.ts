/** A glob for exactly these files. */
export function filesGlob(paths: readonly string[]): string {
  const globs = paths.map((path) => path.replace(/[*?[\]{},\\]/g, "\\$&"));
  return globs.length === 1 ? (globs[0] ?? "") : `{${globs.join(",")}}`;
}
