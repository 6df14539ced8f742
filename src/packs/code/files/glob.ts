import type { Tool } from "../../../tools/tool.ts";
import { defineLook, FOLDER_WORDS } from "./define-look.ts";
import { globTest, leftOut, searchFiles } from "./ripgrep.ts";

type GlobInput = { pattern: string; path?: string; limit?: number };

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;

/** Finds files by name. */
export const glob: Tool<GlobInput> = defineLook<GlobInput>({
  name: "glob",
  description: "Finds files by name; ignored and hidden ones are passed over.",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: 1_000,
      description: "Such as src/**/*.ts; without a slash, in every folder.",
    },
    path: { type: "string", description: "A folder; the project by default." },
    limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} by default.` },
  },
  required: ["pattern"],
  words: {
    ...FOLDER_WORDS,
    glob: "pattern",
    query: "pattern",
    head_limit: "limit",
    max_results: "limit",
  },
  look: async ({ pattern, limit = DEFAULT_LIMIT }, context) => {
    const accepts = globTest(pattern);
    if (!accepts) return { text: `the pattern ${pattern} has too many alternatives`, isError: true };
    const result = await searchFiles({ args: ["--files"], accepts, max: limit }, context);
    if (result.fault && result.found.length === 0) return { text: `glob: ${result.fault}`, isError: true };
    const names = result.found.map((each) => each.path);
    return [...(names.length > 0 ? names : ["no files match"]), ...leftOut(result, "files")].join("\n");
  },
});
