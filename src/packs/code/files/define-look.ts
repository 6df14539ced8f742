import { pathTarget } from "../../../files/resolve-path.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutput,
} from "../../../tools/tool.ts";
import { fileFault } from "./file-fault.ts";
import { findNearPaths } from "./find-near-paths.ts";

/** A tool that only looks at one place, the project's folder unless its input names another. */
type Look<Input> = Pick<
  ToolDefinition<Input>,
  "name" | "description" | "words" | "accept" | "untold" | "check" | "fileState"
> & {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  look(input: Input, context: ToolContext): Promise<ToolOutput | string>;
};

/** Other systems' words for the path of a file. */
export const FILE_WORDS = {
  file_path: "path",
  filePath: "path",
  file: "path",
  filename: "path",
  absolute_path: "path",
  target_file: "path",
  notebook_path: "path",
};
/** Other systems' words for a folder. */
export const FOLDER_WORDS = {
  ...FILE_WORDS,
  dir: "path",
  directory: "path",
  dir_path: "path",
  folder: "path",
};

/** Declares a tool that reads at a path and nowhere else; what goes wrong is told with the path's name. */
export function defineLook<Input extends { path?: string }>(definition: Look<Input>): Tool<Input> {
  const { properties, required = [], look, ...rest } = definition;
  return defineTool<Input>({
    ...rest,
    groups: ["filesystem"],
    risk: "low",
    replay: "safe",
    input: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    } as JsonSchema,
    access: async ({ path = "." }, roots) => [await pathTarget(path, "read", roots)],
    execute: async (input, context) => {
      try {
        return await look(input, context);
      } catch (thrown) {
        return { text: await explainFault(thrown, input.path ?? ".", context), isError: true };
      }
    },
  });
}

/** Why a file could not be used; of one that is not there, also what there is of nearly that name. */
export async function explainFault(thrown: unknown, path: string, context: ToolContext): Promise<string> {
  const fault = fileFault(thrown, path);
  if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") return fault;
  const near = await findNearPaths(context).catch(() => []);
  return near.length === 0 ? fault : `${fault}; did you mean ${near.join(", ")}?`;
}
