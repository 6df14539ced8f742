/** A node of Markdown's syntax tree, as far as line breaks go. */
type Node = { type: string; value?: string; children?: Node[] };

/**
 * A plugin for Markdown: a line that ends in a paragraph ends on the screen, too. Agents write lists of results line by
 * line, and Markdown alone would run them together. Code and tables have their own lines and stay as they are.
 */
export function keepBreaks(): (tree: Node) => void {
  return split;
}

function split(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    split(child);
    if (child.type !== "text" || !child.value?.includes("\n")) return [child];
    return child.value
      .split(/[ \t]*\n/)
      .flatMap((value, index) => [
        ...(index > 0 ? [{ type: "break" }] : []),
        ...(value === "" ? [] : [{ type: "text", value }]),
      ]);
  });
}
