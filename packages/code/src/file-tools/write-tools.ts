import { fileFault } from "@retinue/core/files/file-fault";
import { writeInside } from "@retinue/core/files/open-inside";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { inTurn, noteWritten, othersVersion, seenVersion, versionOf } from "@retinue/core/files/seen-files";
import { flag, type Shape, shape, type TypeIn, text, textWith } from "@retinue/core/schema/shape";
import { renameKeys } from "@retinue/core/tools/accept-words";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { type Applied, applyEdits, type Edit } from "./apply-edits.ts";
import { applyUnifiedPatch, findPatched, refusePatch } from "./apply-patch.ts";
import { explainFault, FILE_WORDS } from "./define-look.ts";
import { type FilePlace, FileTooLarge, findFilePlace, isBinary, readWhole } from "./file-place.ts";

const WRITE_INPUT = describeInput({ path: textWith({ minLength: 1 }), content: text });
type WriteInput = TypeIn<typeof WRITE_INPUT>;

/** Writes a whole file. */
export const write: Tool<WriteInput> = defineTool<WriteInput>({
  name: "write",
  description:
    "Writes a whole file, making folders as needed. Refused if the file changed since you read it, or if another run wrote it and you have not read it.",
  groups: ["filesystem"],
  risk: "medium",
  replay: "safe",
  input: WRITE_INPUT,
  words: { ...FILE_WORDS, contents: "content", text: "content", file_text: "content" },
  access: async ({ path }, roots) => [await pathTarget(path, "write", roots)],
  execute: async (input, context) => {
    try {
      const place = findFilePlace(context);
      return await inTurn(place.path, () => replaceFile(input, place, context));
    } catch (thrown) {
      return { text: fileFault(thrown, input.path), isError: true };
    }
  },
});

async function replaceFile(
  { path, content }: WriteInput,
  place: FilePlace,
  context: ToolContext,
): Promise<ToolOutput> {
  const conflict = await findConflict(place, context.runId);
  if (conflict) return { text: `${path} ${conflict}`, isError: true };
  const kind = await putContent(content, place, context);
  return { text: `${kind} ${path} (${Buffer.byteLength(content)} bytes)` };
}

/** Gives a file this content, and says so to all who must know. */
async function putContent(content: string, { root, path }: FilePlace, context: ToolContext) {
  context.signal.throwIfAborted();
  await context.beforeChange(path);
  const kind = await writeInside(root, path, content);
  noteWritten(context.runId, path, versionOf(content));
  context.changed(path, kind);
  return kind;
}

/**
 * Why a file must be read before it is written: it holds something other than what this run saw last, or what another run
 * wrote and this one never saw. A file that is gone is no conflict.
 */
async function findConflict(place: FilePlace, runId: string): Promise<string | null> {
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

const MAX_EDITS = 100;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_LINES_NAMED = 20;

const EDIT: Shape<Edit> = shape({
  old: {
    ...textWith({ minLength: 1 }),
    description: "Exactly as in the file, without line numbers; it must occur once.",
  },
  new: text,
  "all?": { ...flag, description: "Every occurrence." },
});
const EDITS: Shape<readonly Edit[]> = {
  type: "array",
  minItems: 1,
  maxItems: MAX_EDITS,
  description: "Done in order.",
  items: EDIT,
};
const EDIT_INPUT = describeInput({
  path: textWith({ minLength: 1 }),
  "edits?": EDITS,
  "patch?": { ...textWith({ minLength: 1 }), description: "Instead of edits: a unified diff of this file." },
});
type EditInput = TypeIn<typeof EDIT_INPUT>;

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
  input: EDIT_INPUT,
  // A patch instead of edits is understood as well.
  told: { ...EDIT_INPUT, required: ["path", "edits"] },
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
      const place = findFilePlace(context);
      return await inTurn(place.path, () => changeFile(input, place, context));
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

async function changeFile(input: EditInput, place: FilePlace, context: ToolContext): Promise<ToolOutput> {
  const { path } = input;
  const { bytes } = await readWhole(place, MAX_BYTES);
  const seen = seenVersion(context.runId, place.path);
  if (seen === undefined) return refuseEdit(`${path}: read it first; this run has not seen what it holds`);
  if (seen !== versionOf(bytes)) return refuseEdit(`${path} changed since you read it; read it again`);
  if (isBinary(bytes)) return refuseEdit(`${path}: it is a binary file`);
  const applied = await applyTo(decodeUtf8(bytes), input);
  if (!applied.ok) return refuseEdit(`${path} was not changed: ${applied.message}`);
  const kind = await putContent(applied.text, place, context);
  return { text: `${kind} ${path}: ${describeChange(input, applied.lines)}` };
}

async function applyTo(text: string, { path, edits, patch }: EditInput): Promise<Applied> {
  const applied =
    patch === undefined ? applyEdits(text, edits ?? []) : await applyUnifiedPatch(text, patch, path);
  return applied.ok && applied.text === text ? { ok: false, message: "nothing would change" } : applied;
}

/** Bytes that are no UTF-8 would be lost on the way through a string. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8 text; editing would damage it");
  }
}

function describeChange({ patch }: EditInput, lines: readonly number[]): string {
  const what = patch === undefined ? "replacement" : "hunk";
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ") + (lines.length > MAX_LINES_NAMED ? ", …" : "");
  const count = `${lines.length} ${what}${lines.length === 1 ? "" : "s"}`;
  return `${count} at line${lines.length === 1 ? "" : "s"} ${named}`;
}

function refuseEdit(text: string): ToolOutput {
  return { text, isError: true };
}
