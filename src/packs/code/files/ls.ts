import { join } from "node:path";
import { listInside } from "../../../files/open-inside.ts";
import type { Tool, ToolContext } from "../../../tools/tool.ts";
import { defineLook, FOLDER_WORDS } from "./define-look.ts";
import { placeOf, targetOf } from "./place.ts";
import { leftOut } from "./ripgrep.ts";

type LsInput = { path?: string };

const MAX_ENTRIES = 1_000;

/** Lists a folder. */
export const ls: Tool<LsInput> = defineLook<LsInput>({
  name: "ls",
  description: "Lists a folder; names of folders end with a slash.",
  words: FOLDER_WORDS,
  properties: { path: { type: "string", description: "The project by default." } },
  look: (_, context) => listFolder(context),
});

/** What is in the folder that a call names, without what the run may not see. */
export async function listFolder(context: ToolContext): Promise<string> {
  const place = placeOf(context);
  const entries = await listInside(place.root, place.path);
  const shown = entries.filter(({ name }) =>
    context.maySee(targetOf(join(place.path, name), place, context)),
  );
  const names = shown.map((entry) => `${entry.name}${entry.isFolder ? "/" : ""}`).sort();
  const more = names.length > MAX_ENTRIES ? [`(${names.length - MAX_ENTRIES} more)`] : [];
  const notes = leftOut({ hidden: entries.length - shown.length, cut: false }, "entries");
  return [...names.slice(0, MAX_ENTRIES), ...more, ...notes].join("\n") || "(the folder is empty)";
}
