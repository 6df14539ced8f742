import { writeInside } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { defineTool, type Tool } from "../../../tools/tool.ts";
import { fileFault } from "./file-fault.ts";
import { placeOf } from "./place.ts";

type WriteInput = { path: string; content: string };

/** Writes a whole file. */
export const write: Tool<WriteInput> = defineTool<WriteInput>({
  name: "write",
  description:
    "Writes a whole file of the project, or of the workspace with the prefix workspace:. Folders are made as needed.",
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
  execute: async ({ path, content }, context) => {
    try {
      const place = placeOf(context);
      await context.beforeChange(place.path);
      const kind = await writeInside(place.root, place.path, content);
      context.changed(place.path, kind);
      return `${kind} ${path} (${Buffer.byteLength(content)} bytes)`;
    } catch (thrown) {
      return { text: fileFault(thrown, path), isError: true };
    }
  },
});
