import { writeInside } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { FILE_WORDS } from "./define-look.ts";
import { fileFault } from "./file-fault.ts";
import { type Place, placeOf } from "./place.ts";
import { inTurn, noteWritten, othersVersion, seenVersion, versionOf } from "./seen-files.ts";
import { FileTooLarge, readWhole } from "./text-file.ts";

type WriteInput = { path: string; content: string };

/** Writes a whole file. */
export const write: Tool<WriteInput> = defineTool<WriteInput>({
  name: "write",
  description:
    "Writes a whole file, making folders as needed. Refused if the file changed since you read it, or if another run wrote it and you have not read it.",
  groups: ["filesystem"],
  risk: "medium",
  replay: "safe",
  input: {
    type: "object",
    properties: { path: { type: "string", minLength: 1 }, content: { type: "string" } },
    required: ["path", "content"],
    additionalProperties: false,
  },
  words: { ...FILE_WORDS, contents: "content", text: "content", file_text: "content" },
  access: async ({ path }, roots) => [await pathTarget(path, "write", roots)],
  execute: async (input, context) => {
    try {
      const place = placeOf(context);
      return await inTurn(place.path, () => replace(input, place, context));
    } catch (thrown) {
      return { text: fileFault(thrown, input.path), isError: true };
    }
  },
});

async function replace(
  { path, content }: WriteInput,
  place: Place,
  context: ToolContext,
): Promise<ToolOutput> {
  const conflict = await conflictAt(place, context.runId);
  if (conflict) return { text: `${path} ${conflict}`, isError: true };
  context.signal.throwIfAborted();
  await context.beforeChange(place.path);
  const kind = await writeInside(place.root, place.path, content);
  noteWritten(context.runId, place.path, versionOf(content));
  context.changed(place.path, kind);
  return { text: `${kind} ${path} (${Buffer.byteLength(content)} bytes)` };
}

/**
 * Why a file must be read before it is written: it holds something else than what this run saw last, or what another run
 * wrote and this one never saw. A file that is gone is no conflict.
 */
async function conflictAt(place: Place, runId: string): Promise<string | null> {
  const seen = seenVersion(runId, place.path);
  const others = othersVersion(runId, place.path);
  if (seen === undefined && others === undefined) return null;
  const changed = "changed since you read it; read it again";
  try {
    const version = versionOf((await readWhole(place)).bytes);
    if (seen !== undefined) return version === seen ? null : changed;
    return version === others ? "was written by another run; read it first" : null;
  } catch (thrown) {
    if (thrown instanceof FileTooLarge) return seen === undefined ? null : changed;
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
