import { messageOf } from "../../../schema/error.ts";
import type { ToolContext, ToolOutput } from "../../../tools/tool.ts";
import { leftOut } from "../files/ripgrep.ts";
import { shownLine } from "./code-symbol.ts";
import { byRole, type Grammar, languageOf } from "./languages.ts";
import { parseSource } from "./parse-source.ts";
import { allFiles, eachFile, filesWith } from "./source-files.ts";

/** A search for code of a shape. */
export type PatternSearch = {
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
  const wrong = await faultOf(pattern, grammars);
  if (wrong) return { text: wrong, isError: true };
  const parsable = (path: string) => grammars.some((grammar) => grammar === languageOf(path)?.grammar);
  const needle = needleOf(pattern) ?? query;
  const files = needle
    ? await filesWith(["--fixed-strings", `--regexp=${needle}`], parsable, MAX_FILES, context)
    : await allFiles(MAX_FILES * 10, context);
  const paths = files.paths.filter(parsable).toSorted(byRole);
  const shown: string[] = [];
  let looked = 0;
  while (looked < Math.min(paths.length, MAX_FILES) && shown.length <= limit) {
    const lot = paths.slice(looked, looked + LOT);
    const found = await eachFile(lot, context, (path, text) => matchesIn(path, text, pattern, query));
    shown.push(...found.flatMap((each) => each ?? []));
    looked += lot.length;
  }
  files.cut ||= shown.length > limit || looked < paths.length;
  const lines = shown.slice(0, limit);
  return { text: [...(lines.length > 0 ? lines : ["no matches"]), ...leftOut(files, "matches")].join("\n") };
}

async function matchesIn(
  path: string,
  text: string,
  pattern: string,
  query: string | undefined,
): Promise<string[]> {
  const grammar = languageOf(path)?.grammar;
  const tree = grammar ? await parseSource(text, grammar) : null;
  const nodes = tree ? attempt(() => tree.findAll(pattern)) : null;
  return (nodes ?? []).flatMap((node) => {
    const code = node.text();
    if (query !== undefined && !code.includes(query)) return [];
    return [`${path}:${node.range().start.line + 1}  match  ${shownLine(code.slice(0, 400))}`];
  });
}

/** Why no grammar takes the pattern; null if one does. */
async function faultOf(pattern: string, grammars: readonly Grammar[]): Promise<string | null> {
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
function needleOf(pattern: string): string | undefined {
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
