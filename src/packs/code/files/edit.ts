import { writeInside } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { renameKeys } from "../../../tools/accept-words.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { type Applied, applyEdits, type Edit } from "./apply-edits.ts";
import { applyUnifiedPatch, findPatched, refusePatch } from "./apply-patch.ts";
import { explainFault, FILE_WORDS } from "./define-look.ts";
import { type Place, placeOf } from "./place.ts";
import { inTurn, noteWritten, seenVersion, versionOf } from "./seen-files.ts";
import { isBinary, readWhole } from "./text-file.ts";

type EditInput = { path: string; edits?: Edit[]; patch?: string };

const MAX_EDITS = 100;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_LINES_NAMED = 20;

const INPUT = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    edits: {
      type: "array",
      minItems: 1,
      maxItems: MAX_EDITS,
      description: "Done in order.",
      items: {
        type: "object",
        properties: {
          old: {
            type: "string",
            minLength: 1,
            description: "Exactly as in the file, without line numbers; it must occur once.",
          },
          new: { type: "string" },
          all: { type: "boolean", description: "Every occurrence." },
        },
        required: ["old", "new"],
        additionalProperties: false,
      },
    },
    patch: { type: "string", minLength: 1, description: "Instead of edits: a unified diff of this file." },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

const EDIT_WORDS = {
  old_string: "old",
  old_str: "old",
  old_text: "old",
  search: "old",
  new_string: "new",
  new_str: "new",
  new_text: "new",
  replace: "new",
  replace_all: "all",
  replaceAll: "all",
};

/** Changes parts of a text file. */
export const edit: Tool<EditInput> = defineTool<EditInput>({
  name: "edit",
  description:
    "Changes parts of a file that you have read, by exact replacements: all of them or none. Refused if the file changed since.",
  groups: ["filesystem"],
  risk: "medium",
  replay: "never",
  input: INPUT,
  // A patch instead of edits is understood as well.
  told: { ...INPUT, required: ["path", "edits"] },
  untold: ["patch"],
  words: { ...FILE_WORDS, ...EDIT_WORDS, diff: "patch", input: "patch" },
  accept: acceptEdit,
  check: ({ edits, patch }) => {
    if ((edits === undefined) === (patch === undefined))
      return "edit: give either 'edits' or 'patch', not both";
    return patch === undefined ? null : refusePatch(patch);
  },
  access: async ({ path }, roots) => [await pathTarget(path, "write", roots)],
  execute: async (input, context) => {
    try {
      const place = placeOf(context);
      return await inTurn(place.path, () => change(input, place, context));
    } catch (thrown) {
      return { text: await explainFault(thrown, input.path, context), isError: true };
    }
  },
});

/** Takes one replacement beside the path, as most systems have it, for a list of one, and the path that a patch names. */
function acceptEdit(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { old, new: by, all, ...rest } = renameKeys(input, EDIT_WORDS);
  if (old !== undefined || by !== undefined)
    return { ...rest, edits: [{ old, new: by, ...(all !== undefined && { all }) }] };
  const { path, patch } = input;
  const named = path === undefined && typeof patch === "string" ? findPatched(patch) : undefined;
  return named === undefined ? input : { path: named, ...input };
}

async function change(input: EditInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { path } = input;
  const { bytes } = await readWhole(place, MAX_BYTES);
  const seen = seenVersion(context.runId, place.path);
  if (seen === undefined) return refusal(`${path}: read it first; this run has not seen what it holds`);
  if (seen !== versionOf(bytes)) return refusal(`${path} changed since you read it; read it again`);
  if (isBinary(bytes)) return refusal(`${path}: it is a binary file`);
  const applied = await applyTo(textOf(bytes), input);
  if (!applied.ok) return refusal(`${path} was not changed: ${applied.message}`);
  context.signal.throwIfAborted();
  await context.beforeChange(place.path);
  const kind = await writeInside(place.root, place.path, applied.text);
  noteWritten(context.runId, place.path, versionOf(applied.text));
  context.changed(place.path, kind);
  return { text: `${kind} ${path}: ${summary(input, applied.lines)}` };
}

async function applyTo(text: string, { path, edits, patch }: EditInput): Promise<Applied> {
  const applied =
    patch === undefined ? applyEdits(text, edits ?? []) : await applyUnifiedPatch(text, patch, path);
  return applied.ok && applied.text === text ? { ok: false, message: "nothing would change" } : applied;
}

/** Bytes that are no UTF-8 would be lost on the way through a string. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8 text; editing would damage it");
  }
}

function summary({ patch }: EditInput, lines: readonly number[]): string {
  const what = patch === undefined ? "replacement" : "hunk";
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ") + (lines.length > MAX_LINES_NAMED ? ", …" : "");
  const count = `${lines.length} ${what}${lines.length === 1 ? "" : "s"}`;
  return `${count} at line${lines.length === 1 ? "" : "s"} ${named}`;
}

function refusal(text: string): ToolOutput {
  return { text, isError: true };
}
