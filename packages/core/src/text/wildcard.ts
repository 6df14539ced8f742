/** A pattern in which only `*` is special: the literal pieces between its stars. */
export type Wildcard = readonly string[];

/** Compiles a pattern in which `*` stands for any text. */
export function compileWildcard(pattern: string): Wildcard {
  return pattern.split(/\*+/);
}

/** Whether the pattern covers the whole text. Looks for the pieces from left to right, so no input makes it backtrack. */
export function matchesWildcard(pieces: Wildcard, text: string): boolean {
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return text === first;
  const last = pieces[pieces.length - 1] ?? "";
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
