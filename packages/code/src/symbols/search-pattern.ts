import { messageOf } from "@retinue/core/schema/error";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { describeLeftOut } from "../file-tools/ripgrep.ts";
import { showLine } from "./code-symbol.ts";
import { compareByRole, findLanguage, type Grammar, parseSource } from "./languages.ts";
import { findAllFiles, findFilesWith, lookIntoFiles } from "./source-files.ts";

/** A search for code of a shape. */
type PatternSearch = {
  pattern: string;
  query?: string | undefined;
  /** Grammars whose files are looked into. */
  grammars: readonly Grammar[];
  limit: number;
};

const MAX_FILES = 2_000;
/** Files are looked into in lots, so that a pattern that fits everywhere ends early. */
const LOT = 64;

/** Finds code by its shape, sources first. */
export async function searchPattern(
  { pattern, query, grammars, limit }: PatternSearch,
  context: ToolContext,
): Promise<ToolOutput> {
  const wrong = await findPatternFault(pattern, grammars);
  if (wrong) return { text: wrong, isError: true };
  const parsable = (path: string) => grammars.some((grammar) => grammar === findLanguage(path)?.grammar);
  const needle = findNeedle(pattern) ?? query;
  const files = needle
    ? await findFilesWith(["--fixed-strings", `--regexp=${needle}`], parsable, MAX_FILES, context)
    : await findAllFiles(MAX_FILES * 10, context);
  const paths = files.paths.filter(parsable).toSorted(compareByRole);
  const shown: string[] = [];
  let looked = 0;
  while (looked < Math.min(paths.length, MAX_FILES) && shown.length <= limit) {
    const lot = paths.slice(looked, looked + LOT);
    const found = await lookIntoFiles(lot, context, (path, text) => findMatches(path, text, pattern, query));
    shown.push(...found.flatMap((each) => each ?? []));
    looked += lot.length;
  }
  files.cut ||= shown.length > limit || looked < paths.length;
  const lines = shown.slice(0, limit);
  return {
    text: [...(lines.length > 0 ? lines : ["no matches"]), ...describeLeftOut(files, "matches")].join("\n"),
  };
}

async function findMatches(
  path: string,
  text: string,
  pattern: string,
  query: string | undefined,
): Promise<string[]> {
  const grammar = findLanguage(path)?.grammar;
  const tree = grammar ? await parseSource(text, grammar) : null;
  const nodes = tree ? attempt(() => tree.findAll(pattern)) : null;
  return (nodes ?? []).flatMap((node) => {
    const code = node.text();
    if (query !== undefined && !code.includes(query)) return [];
    return [`${path}:${node.range().start.line + 1}  match  ${showLine(code.slice(0, 400))}`];
  });
}

/** Why no grammar takes the pattern; null if one does. */
async function findPatternFault(pattern: string, grammars: readonly Grammar[]): Promise<string | null> {
  let fault = "no parser runs on this machine; use grep";
  for (const grammar of grammars) {
    const tree = await parseSource("", grammar);
    if (!tree) return fault;
    try {
      tree.findAll(pattern);
      return null;
    } catch (thrown) {
      fault = `the pattern is not valid: ${messageOf(thrown)}`;
    }
  }
  return fault;
}

/** A word of the pattern that all code of its shape must hold. */
function findNeedle(pattern: string): string | undefined {
  const words = pattern.replace(/\$+\w*/g, " ").match(/[A-Za-z_]\w+/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}

function attempt<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
