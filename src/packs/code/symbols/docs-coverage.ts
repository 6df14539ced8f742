import type { Tool, ToolContext, ToolOutput } from "../../../tools/tool.ts";
import { defineLook } from "../files/define-look.ts";
import { leftOut, searchFiles } from "../files/ripgrep.ts";
import { type ExportedName, exportedInText, exportedInTree } from "./exported-names.ts";
import { languageOf, roleOf } from "./languages.ts";
import { parseSource } from "./parse-source.ts";
import { eachFile } from "./source-files.ts";

type DocsCoverageInput = { path?: string; limit?: number };
type Counted = ExportedName & { path: string; language: string };

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
const MAX_FILES = 5_000;
const COVERED = new Set(["TypeScript", "JavaScript", "Python", "Go", "Rust"]);

/** Says which exported names have documentation. */
export const docsCoverage: Tool<DocsCoverageInput> = defineLook<DocsCoverageInput>({
  name: "docs_coverage",
  description:
    "Counts the exported names of the sources that have a documentation comment, and lists those that have none with path:line. For TypeScript, JavaScript, Python, Go and Rust; tests and generated files are left out.",
  properties: {
    path: { type: "string", description: "A folder or file; the project's folder by default." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `How many undocumented names to list; ${DEFAULT_LIMIT} by default.`,
    },
  },
  look: async (input, context) => {
    return await measure(input, context);
  },
});

async function measure(
  { limit = DEFAULT_LIMIT }: DocsCoverageInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const accepts = (path: string) => COVERED.has(languageOf(path)?.name ?? "") && roleOf(path) === "source";
  const files = await searchFiles({ args: ["--files"], accepts, max: MAX_FILES }, context);
  if (files.fault && files.found.length === 0)
    return { text: `docs_coverage: ${files.fault}`, isError: true };
  const paths = files.found.map(({ path }) => path).filter((path) => roleOf(path) === "source");
  const looked = await eachFile(paths, context, namesIn);
  const names = looked.flatMap((each) => each ?? []);
  const unread = looked.filter((each) => each === null).length;
  const notes = [
    ...(unread > 0 ? [`(${unread} files left out: too large, or not readable as text)`] : []),
    ...leftOut(files, "files"),
  ];
  if (names.length === 0)
    return { text: ["no exported names in sources of a known language", ...notes].join("\n") };
  const lacking = names.filter(({ documented }) => !documented);
  const shown = lacking
    .slice(0, limit)
    .map(({ path, line, kind, name }) => `${path}:${line}  ${kind} ${name}`);
  const more =
    lacking.length > limit ? [`(${lacking.length - limit} more; set a path or a higher limit)`] : [];
  const list = shown.length > 0 ? ["Without documentation:", ...shown, ...more] : [];
  return { text: [...summary(names), ...list, ...notes].join("\n") };
}

async function namesIn(path: string, text: string): Promise<Counted[]> {
  const { name: language = "", grammar } = languageOf(path) ?? {};
  const tree = grammar ? await parseSource(text, grammar) : null;
  const names = tree ? exportedInTree(tree) : exportedInText(text, language);
  return (names ?? []).map((each) => ({ ...each, path, language }));
}

function summary(names: readonly Counted[]): string[] {
  const languages = [...new Set(names.map(({ language }) => language))].sort();
  const line = (what: string, some: readonly Counted[]) => {
    const documented = some.filter((each) => each.documented).length;
    const share = Math.floor((100 * documented) / some.length);
    return `${what}${documented} of ${some.length} exported names are documented (${share} %)`;
  };
  if (languages.length === 1) return [line("", names)];
  return [
    line("", names),
    ...languages.map((language) =>
      line(
        `- ${language}: `,
        names.filter((each) => each.language === language),
      ),
    ),
  ];
}
