import { basename, dirname } from "node:path/posix";
import { closest } from "@retinue/core/agents/closest";
import { fileFault } from "@retinue/core/files/file-fault";
import { pathTarget } from "@retinue/core/files/resolve-path";
import type { Shape } from "@retinue/core/schema/shape";
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutput,
} from "@retinue/core/tools/tool";
import { searchFiles } from "./ripgrep.ts";

/** A tool that only looks at one place, the project's folder unless its input names another. */
type Look<Input> = Pick<
  ToolDefinition<Input>,
  "name" | "description" | "words" | "accept" | "untold" | "check" | "fileState" | "withSettings"
> & {
  readonly input: Shape<Input>;
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
  const { look, ...rest } = definition;
  return defineTool<Input>({
    ...rest,
    groups: ["filesystem"],
    risk: "low",
    replay: "safe",
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

const MAX_SEARCHED = 200;
const MAX_NAMED = 5;

/** Files and folders that the path of a call may mean, which is not there: of the same name elsewhere, or nearly spelled so. */
async function findNearPaths(context: ToolContext): Promise<string[]> {
  const target = context.targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside" || target.relative === "") return [];
  const { relative: wanted, root } = target;
  const name = basename(wanted).toLowerCase();
  const isNamed = (path: string) => basename(path).toLowerCase() === name;
  const isNear = (path: string) => isNamed(path) || closest(wanted, [path]) !== undefined;
  const path = root === "project" ? context.projectDir : context.workspaceDir;
  const everywhere: ToolContext = { ...context, targets: [{ ...target, path, relative: "", mode: "read" }] };
  const accepts = (path: string) => withFolders(path).some(isNear);
  const { found } = await searchFiles({ args: ["--files"], accepts, max: MAX_SEARCHED }, everywhere);
  const prefix = root === "project" ? "" : "workspace:";
  const near = found.flatMap((each) => withFolders(each.path.slice(prefix.length)).filter(isNear));
  const ranked = [...new Set(near)].toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
  return ranked.slice(0, MAX_NAMED).map((each) => `${prefix}${each}`);
}

/** A path and the folders it lies in. */
function withFolders(path: string): string[] {
  const folder = dirname(path);
  return folder === "." ? [path] : [path, ...withFolders(folder)];
}
