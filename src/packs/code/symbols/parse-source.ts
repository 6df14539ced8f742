import type { SgNode } from "@ast-grep/napi";
import type { Grammar } from "./languages.ts";

/** A node of a syntax tree. */
export type SyntaxNode = SgNode;

let parser: Promise<typeof import("@ast-grep/napi") | null> | undefined;

/** The tree of a source text, parsed off this thread; null if no parser runs on this machine. */
export async function parseSource(text: string, grammar: Grammar): Promise<SyntaxNode | null> {
  parser ??= import("@ast-grep/napi").catch(() => null);
  const library = await parser;
  return library ? (await library.parseAsync(grammar, text)).root() : null;
}
