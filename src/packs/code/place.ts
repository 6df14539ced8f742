import { PathRefused } from "../../files/open-inside.ts";
import { pathTarget } from "../../files/resolve-path.ts";
import type { Roots } from "../../tools/tool.ts";

/** A canonical path and the root folder it lies in. */
export type Place = { path: string; root: string };

/** Where a path that a model wrote leads; refuses what lies outside the project and the workspace. */
export async function placeOf(path: string, mode: "read" | "write", roots: Roots): Promise<Place> {
  const target = await pathTarget(path, mode, roots);
  if (target.kind !== "path" || target.root === "outside")
    throw new PathRefused(`${path} is outside the project and the workspace`);
  return { path: target.path, root: target.root === "project" ? roots.projectDir : roots.workspaceDir };
}
