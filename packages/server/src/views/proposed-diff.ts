import { relative, sep } from "node:path";
import { applyEdits, type Edit } from "@retinue/code/file-tools/apply-edits";
import { applyUnifiedPatch } from "@retinue/code/file-tools/apply-patch";
import { writeUnifiedDiff } from "@retinue/core/changes/patch";
import { isBelow } from "@retinue/core/files/is-below";
import { openForReading } from "@retinue/core/files/open-inside";
import type { Record } from "@retinue/core/record/record";
import type { Approval, SessionRow } from "@retinue/core/schema/record";

const MOST_BYTES = 1_000_000;

/**
 * What a call that writes or edits a file would change in it as it is now, as a unified diff. Null for other calls, and for
 * what is no text, too large, or outside the folders that the run works in.
 */
export async function proposedDiff(
  record: Pick<Record, "findWorktree">,
  { tool, runId, request }: Pick<Approval, "tool" | "runId" | "request">,
  session: SessionRow,
): Promise<string | null> {
  if (tool !== "write" && tool !== "edit") return null;
  const path = pathIn(request.targets);
  const roots = [session.workspace, `${session.workspace}-runs`, session.project];
  const copy = (await record.findWorktree({ runId: runId }))?.path;
  if (path === null) return null;
  const root = [...(copy === undefined ? [] : [copy]), ...roots].find((one) => isBelow(path, one));
  if (root === undefined) return null;
  try {
    const before = await currentText(root, path);
    const after = await textAfter(before ?? "", path, request.input);
    if (after === null || Buffer.byteLength(after) > MOST_BYTES) return null;
    if (before?.includes("\0") || after.includes("\0")) return null;
    const name = relative(root, path).replaceAll(sep, "/");
    const names = { from: before === null ? "/dev/null" : `a/${name}`, to: `b/${name}` };
    return await writeUnifiedDiff(names, before ?? "", after);
  } catch {
    return null;
  }
}

function pathIn(targets: unknown): string | null {
  const found: unknown = Array.isArray(targets) ? targets.find((one) => one?.kind === "path") : undefined;
  if (typeof found !== "object" || found === null || !("path" in found)) return null;
  return typeof found.path === "string" ? found.path : null;
}

/** Null if there is no such file; throws for what cannot be shown. */
async function currentText(root: string, path: string): Promise<string | null> {
  try {
    const handle = await openForReading(root, path);
    try {
      if ((await handle.stat()).size > MOST_BYTES) throw new Error("too large");
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}

async function textAfter(before: string, path: string, input: unknown): Promise<string | null> {
  if (typeof input !== "object" || input === null) return null;
  if ("content" in input) return typeof input.content === "string" ? input.content : null;
  const edits = "edits" in input && Array.isArray(input.edits) ? input.edits.filter(isEdit) : [];
  const applied =
    "patch" in input && typeof input.patch === "string"
      ? await applyUnifiedPatch(before, input.patch, path)
      : applyEdits(before, edits);
  return applied.ok ? applied.text : null;
}

function isEdit(value: unknown): value is Edit {
  if (typeof value !== "object" || value === null || !("old" in value) || !("new" in value)) return false;
  return typeof value.old === "string" && value.old !== "" && typeof value.new === "string";
}
