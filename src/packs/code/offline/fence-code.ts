/** Lines of code as a Markdown block of their own, so that they do not run into the prose around them. */
export function fenceCode(lines: readonly string[], indent = ""): string[] {
  if (lines.length === 0) return [];
  const longest = Math.max(2, ...lines.flatMap((line) => line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return [fence, ...lines, fence].map((line) => (line === "" ? "" : `${indent}${line}`));
}
