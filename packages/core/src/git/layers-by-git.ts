import { namedLayer } from "../rights/protected-layer.ts";
import type { Layer } from "../schema/rights.ts";
import { findRepositories, type GitHome, readGitPlaces } from "./git-places.ts";

/**
 * What git's settings close to every agent, as they are now: folders of hooks, included settings, programs. `writes` are
 * files that are to be written, each perhaps in a repository of its own. Commands are not asked about here: a sandbox finds
 * out for itself, in all repositories of the project.
 */
export function layersByGit(projectDir: string, writes: readonly string[], home: GitHome): readonly Layer[] {
  if (writes.length === 0) return [];
  const places = readGitPlaces(findRepositories(projectDir, writes), [projectDir], home);
  return places.length > 0 ? [namedLayer(places)] : [];
}
