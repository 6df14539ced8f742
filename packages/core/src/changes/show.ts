import type { BlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createPatches, type FilePatch } from "./patch.ts";
import { findScope, netChanges, type Scope, unkept } from "./scope.ts";
import { keepState } from "./state.ts";

/** The changes of a scope in one folder. */
export type ShownFolder = {
  root: string;
  /** Whether this is the project itself, and not a run's own copy of it. */
  isProject: boolean;
  patches: readonly FilePatch[];
};

/** What a run and everything below it changed. */
export type ShownChanges = { scope: Scope; folders: readonly ShownFolder[]; unkept: readonly string[] };

/** Sums up what a run, session or act changed, from what it first found to what it last left. */
export async function showChanges(
  { record, blobs }: { record: Record; blobs: BlobStore },
  name: string,
): Promise<ShownChanges> {
  const scope = await findScope(record, name);
  const byRoot = new Map<string, Parameters<typeof createPatches>[0][number][]>();
  for (const net of netChanges(scope.changes)) {
    const after = net.outcomeKnown ? net.after : await keepState(net.root, net.path, blobs, false);
    byRoot.set(net.root, [...(byRoot.get(net.root) ?? []), { ...net, after }]);
  }
  const { project } = scope.session;
  const roots = [...byRoot.keys()].sort((one, other) => Number(other === project) - Number(one === project));
  const folders: ShownFolder[] = [];
  for (const root of roots) {
    const patches = await createPatches(byRoot.get(root) ?? [], blobs);
    if (patches.length > 0) folders.push({ root, isProject: root === project, patches });
  }
  return { scope, folders, unkept: unkept(scope.changes) };
}
