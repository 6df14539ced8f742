import type { Glyphs } from "./canvas.ts";

/** One row of a tree: what it shows, the guides before it, and the guides before whatever belongs to it below. */
export type GuidedRow<Node> = {
  readonly node: Node;
  readonly guides: string;
  readonly rest: string;
  readonly hasBelow: boolean;
};

/**
 * The rows of a tree from top to bottom, with the guides that every drawing of a tree has. It keeps a stack and does not
 * recurse, because runs may be nested deeply.
 */
export function* walkTree<Node>(
  roots: readonly Node[],
  listBelow: (node: Node) => readonly Node[],
  glyphs: Pick<Glyphs, "branch" | "lastBranch" | "trunk" | "gap">,
): Generator<GuidedRow<Node>> {
  const left = roots.map((node) => ({ node, guides: "", rest: "" })).reverse();
  for (let line = left.pop(); line; line = left.pop()) {
    const { node, guides, rest } = line;
    const below = listBelow(node);
    yield { node, guides, rest, hasBelow: below.length > 0 };
    const placed = below.map((child, index) => {
      const isLast = index === below.length - 1;
      return {
        node: child,
        guides: rest + (isLast ? glyphs.lastBranch : glyphs.branch),
        rest: rest + (isLast ? glyphs.gap : glyphs.trunk),
      };
    });
    for (const each of placed.reverse()) left.push(each);
  }
}
