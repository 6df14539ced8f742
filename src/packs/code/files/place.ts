import { relative, sep } from "node:path";
import { PathRefused } from "../../../files/open-inside.ts";
import type { Target } from "../../../schema/rights.ts";
import type { ToolContext } from "../../../tools/tool.ts";

/** A canonical path, the root folder it lies in, and whether another name of the same file may be read. */
export type Place = { path: string; root: string; mayRead?: (path: string) => boolean };

/** The path that was judged, not the one that the same words would lead to now; refuses what lies outside. */
export function placeOf(
  context: Pick<ToolContext, "targets" | "projectDir" | "workspaceDir" | "maySee">,
): Place {
  const { targets, projectDir, workspaceDir } = context;
  const target = targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside")
    throw new PathRefused("it is outside the project and the workspace");
  const root = target.root === "project" ? projectDir : workspaceDir;
  return {
    path: target.path,
    root,
    mayRead: (path) => context.maySee(targetOf(path, { root }, context)),
  };
}

/** The permission target of a file found below a place. */
export function targetOf(
  path: string,
  { root }: Pick<Place, "root">,
  { projectDir }: Pick<ToolContext, "projectDir">,
): Target {
  return {
    kind: "path",
    path,
    root: root === projectDir ? "project" : "workspace",
    relative: relative(root, path).replaceAll(sep, "/"),
    mode: "read",
  };
}
