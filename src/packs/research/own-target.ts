import { pathTarget } from "../../files/resolve-path.ts";
import type { Target } from "../../schema/rights.ts";
import type { Roots } from "../../tools/tool.ts";

/** The permission target of a file of the workspace that is written and belongs to one run: no other run's is overwritten. */
export async function ownTarget(path: string, roots: Roots): Promise<Target> {
  const target = await pathTarget(path, "write", roots);
  if (target.kind !== "path" || target.root !== "workspace" || !roots.takePath) return target;
  const own = roots.takePath(target.path);
  return own === target.path ? target : pathTarget(own, "write", roots);
}
