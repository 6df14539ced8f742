import { PathRefused } from "../../../files/open-inside.ts";
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
