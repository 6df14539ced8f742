import { basename, dirname } from "node:path/posix";
import { closest } from "../../../agents/closest.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { searchFiles } from "./ripgrep.ts";

const MAX_SEARCHED = 200;
const MAX_NAMED = 5;

/** Files and folders that the path of a call may mean, which is not there: of the same name elsewhere, or nearly spelled so. */
export async function findNearPaths(context: ToolContext): Promise<string[]> {
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
