import { relative, sep } from "node:path";
import { PathRefused } from "../../../files/open-inside.ts";
import type { Target } from "../../../schema/rights.ts";
import type { ToolContext } from "../../../tools/tool.ts";

/** A canonical path and the root folder it lies in. */
export type Place = { path: string; root: string };

/** The path that was judged, not the one that the same words would lead to now; refuses what lies outside. */
export function placeOf({
  targets,
  projectDir,
  workspaceDir,
}: Pick<ToolContext, "targets" | "projectDir" | "workspaceDir">): Place {
  const target = targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside")
    throw new PathRefused("it is outside the project and the workspace");
  return { path: target.path, root: target.root === "project" ? projectDir : workspaceDir };
}

/** The permission target of a file that was come upon below a place. */
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
