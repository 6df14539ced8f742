import { join } from "node:path";
import type { ToolContext } from "@retinue/core/tools/tool";
import { findFilePlace, isBinary, readWhole, toReadTarget } from "../file-tools/file-place.ts";

/** Files larger than this were hardly written by hand, and are not parsed. */
const MAX_PARSED_BYTES = 400_000;
const AT_ONCE = 8;
const WORKSPACE = "workspace:";

/** Looks into files one after the other, a few at once; files that cannot be read as text give null. */
export async function lookIntoFiles<Value>(
  paths: readonly string[],
  context: ToolContext,
  look: (path: string, text: string) => Promise<Value>,
): Promise<(Value | null)[]> {
  const results: (Value | null)[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    context.signal.throwIfAborted();
    if (at > 0 && at % 200 === 0) context.progress(`${at} of ${paths.length} files`);
    const some = paths.slice(at, at + AT_ONCE).map(async (path) => {
      const text = await readSource(path, context);
      return text === null ? null : look(path, text);
    });
    results.push(...(await Promise.all(some)));
  }
  return results;
}

/** The text of a file by the name that a search gave it; null if it is too large, binary or gone. */
async function readSource(
  path: string,
  context: ToolContext,
  maxBytes = MAX_PARSED_BYTES,
): Promise<string | null> {
  const { root } = findFilePlace(context);
  try {
    const { bytes } = await readWhole({ root, path: join(root, withoutPrefix(path)) }, maxBytes);
    return isBinary(bytes) ? null : bytes.toString("utf8");
  } catch {
    return null;
  }
}

/** The text of a file that no search gave, if the run may see it. */
export async function readIfVisible(
  path: string,
  context: ToolContext,
  maxBytes?: number,
): Promise<string | null> {
  const { root } = findFilePlace(context);
  const isVisible = context.maySee(toReadTarget(join(root, withoutPrefix(path)), { root }, context));
  return isVisible ? readSource(path, context, maxBytes) : null;
}

function withoutPrefix(path: string): string {
  return path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : path;
}
