import { PathRefused } from "../files/open-inside.ts";
import type { Target } from "../schema/rights.ts";
import type { ToolContext } from "./tool.ts";

/** A path that rules were asked about, and the folder it lies in. */
export type JudgedPath = { target: Extract<Target, { kind: "path" }>; root: string };

/** The path that was judged, not the one that the same words would lead to now; refuses what lies outside. */
export function findJudgedPath({
  targets,
  projectDir,
  workspaceDir,
}: Pick<ToolContext, "targets" | "projectDir" | "workspaceDir">): JudgedPath {
  const target = targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside")
    throw new PathRefused("it is outside the project and the workspace");
  return { target, root: target.root === "project" ? projectDir : workspaceDir };
}
