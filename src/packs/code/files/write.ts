import { writeInside } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { fileFault } from "./file-fault.ts";
import { type Place, placeOf } from "./place.ts";
import { inTurn, noteSeen, seenVersion, versionOf } from "./seen-files.ts";
import { FileTooLarge, readWhole } from "./text-file.ts";

type WriteInput = { path: string; content: string };

/** Writes a whole file. */
export const write: Tool<WriteInput> = defineTool<WriteInput>({
  name: "write",
  description:
    "Writes a whole file of the project, or of the workspace with the prefix workspace:. Folders are made as needed. It is refused if the file changed since it was read.",
  groups: ["filesystem"],
  risk: "medium",
  replay: "safe",
  input: {
    type: "object",
    properties: { path: { type: "string", minLength: 1 }, content: { type: "string" } },
    required: ["path", "content"],
    additionalProperties: false,
  },
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
  if (await hasChanged(place, context.runId))
    return { text: `${path} changed since you read it; read it again`, isError: true };
  context.signal.throwIfAborted();
  await context.beforeChange(place.path);
  const kind = await writeInside(place.root, place.path, content);
  noteSeen(context.runId, place.path, versionOf(content));
  context.changed(place.path, kind);
  return { text: `${kind} ${path} (${Buffer.byteLength(content)} bytes)` };
}

/** Whether the file holds something else than what this run saw last; a file that is gone is no conflict. */
async function hasChanged(place: Place, runId: string): Promise<boolean> {
  const seen = seenVersion(runId, place.path);
  if (seen === undefined) return false;
  try {
    const { bytes } = await readWhole(place);
    return versionOf(bytes) !== seen;
  } catch (thrown) {
    if (thrown instanceof FileTooLarge) return true;
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw thrown;
  }
}
