import { basename, isAbsolute, normalize } from "node:path";
import { messageOf } from "@retinue/core/schema/error";
import type { StructuredPatch } from "diff";
import { type Applied, describeNearLines, findLineEnd } from "./apply-edits.ts";

type Hunk = StructuredPatch["hunks"][number];

const BOM = "\uFEFF";

/** The sections of a patch as Codex writes it. */
const SECTION = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$/gm;

function isEnvelope(patch: string): boolean {
  return patch.trimStart().startsWith("*** Begin Patch");
}

/** The first file that a patch names. */
export function findPatched(patch: string): string | undefined {
  if (isEnvelope(patch)) return patch.matchAll(SECTION).next().value?.[2];
  return /^\+\+\+ (?:b\/)?([^\t\n\r]+)/m.exec(patch)?.[1];
}

/** Why a patch cannot be taken whatever the file holds; null if it may. */
export function refusePatch(patch: string): string | null {
  if (!isEnvelope(patch)) return null;
  const kinds = [...patch.matchAll(SECTION)].map((section) => section[1]);
  if (kinds.length === 1 && kinds[0] === "Update File") return null;
  return "edit: a patch updates one file; give each file a call of its own, and make new ones with write";
}

/**
 * A patch without line numbers, as Codex writes it, or what is wrong with it. Each hunk is the first that fits behind the
 * hunk before and the lines after its @@; before "*** End of File" it is the end of the file.
 */
function readEnvelope(patch: string, source: string, path: string): StructuredPatch | string {
  const named = findPatched(patch) ?? "";
  if (!isSameFile(named, path)) return `the patch is about ${named}, not about ${path}`;
  const file = source.split("\n").map(withoutReturn);
  const end = file.at(-1) === "" ? file.length - 1 : file.length;
  const body = patch.trim().split("\n").map(withoutReturn);
  const hunks: Hunk[] = [];
  let from = 0;
  let grown = 0;
  let lines: string[] = [];
  let isAnchored = false;
  const close = (isLast: boolean): string | null => {
    if (lines.length === 0) return null;
    const old = lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
    const added = lines.filter((line) => !line.startsWith("-"));
    // Lines that are only added, behind no line that is named, go to the end.
    const least = isLast || (old.length === 0 && !isAnchored) ? Math.max(from, end - old.length) : from;
    const at = findLines(file, old, least);
    if (at === null) {
      const where = `${from > 0 ? ` behind line ${from}` : ""}${isLast ? " at the end of the file" : ""}`;
      const other = findLines(file, old, 0);
      const hint =
        other === null ? describeNearLines(file.join("\n"), old.join("\n")) : `they are at line ${other + 1}`;
      return `hunk ${hunks.length + 1} does not fit: its old lines are not in the file as they stand${where}; ${hint}`;
    }
    const starts = { oldStart: at + 1, newStart: at + 1 + grown };
    hunks.push({ ...starts, oldLines: old.length, newLines: added.length, lines });
    from = at + old.length;
    grown += added.length - old.length;
    lines = [];
    isAnchored = false;
    return null;
  };
  const take = (line: string): string | null => {
    if (line === "*** End Patch" || line === "*** End of File") return close(line === "*** End of File");
    if (!line.startsWith("@@")) {
      lines.push(line === "" ? " " : line);
      return /^(?:[ +-]|$)/.test(line) ? null : `the line '${line}' begins with neither a space, + nor -`;
    }
    const fault = close(false);
    const anchor = line.slice(2).trim();
    if (fault !== null || anchor === "") return fault;
    const found = file.findIndex((each, at) => at >= from && each.trim() === anchor);
    if (found < 0)
      return `there is no line '${anchor}'${from > 0 ? ` behind line ${from}` : ""}; after @@ stands a whole line of the file or nothing`;
    isAnchored = true;
    from = found + 1;
    return null;
  };
  const first = body.findIndex((line) => line.startsWith("*** Update File"));
  for (const line of [...body.slice(first + 1), "*** End Patch"]) {
    const fault = take(line.startsWith("***") ? line.trimEnd() : line);
    if (fault !== null) return fault;
  }
  if (hunks.length === 0) return "the patch has no hunk";
  return { oldFileName: path, newFileName: path, oldHeader: "", newHeader: "", hunks };
}

/** Whether two paths name one file of the project; either may be written in full. */
function isSameFile(named: string, path: string): boolean {
  const [one, other] = [named, path].map((each) => normalize(each.replace(/^project:/, "")));
  if (one === undefined || other === undefined || one === other) return one === other;
  if (isAbsolute(one) === isAbsolute(other)) return false;
  return isAbsolute(one) ? one.endsWith(`/${other}`) : other.endsWith(`/${one}`);
}

/** Where these lines first stand at a line or behind it; null if they do not. */
function findLines(file: readonly string[], wanted: readonly string[], from: number): number | null {
  for (let at = from; at + wanted.length <= file.length; at++)
    if (wanted.every((line, index) => file[at + index] === line)) return at;
  return null;
}

/**
 * Applies a unified diff of one file, or a patch of one as Codex writes it. Every line that it removes or gives as context must be in the file, line ends
 * aside; lines that it adds take the line end that the file has most.
 */
export async function applyUnifiedPatch(text: string, patch: string, path: string): Promise<Applied> {
  const { applyPatch, parsePatch } = await import("diff");
  const mark = text.startsWith(BOM) ? BOM : "";
  const source = text.slice(mark.length);
  const read = isEnvelope(patch) ? readEnvelope(patch, source, path) : readPatch(parsePatch, patch, path);
  if (typeof read === "string") return { ok: false, message: read };
  const hunks = read.hunks.map((hunk) => withLineEnds(hunk, findLineEnd(source)));
  const patched = applyPatch(
    source,
    { ...read, hunks },
    {
      fuzzFactor: 0,
      autoConvertLineEndings: false,
      compareLine: (_number, line: string | undefined, _operation, content) =>
        line !== undefined && withoutReturn(line) === withoutReturn(content),
    },
  );
  if (patched === false) return { ok: false, message: await explainMisfit(source, read, applyPatch) };
  // A last line without an end was given half of one above.
  const ending = patched.endsWith("\r") && !source.endsWith("\r") ? patched.slice(0, -1) : patched;
  if (ending === source) return { ok: false, message: "the patch would change nothing" };
  return { ok: true, text: mark + ending, lines: read.hunks.map((hunk) => hunk.newStart) };
}

/** The patch of the one file that it must be about, or what is wrong with it. */
function readPatch(
  parsePatch: (text: string) => StructuredPatch[],
  text: string,
  path: string,
): StructuredPatch | string {
  let patches: StructuredPatch[];
  try {
    patches = parsePatch(text.endsWith("\n") ? text : `${text}\n`);
  } catch (thrown) {
    return `the patch is no valid unified diff: ${messageOf(thrown)}; replacements are safer: {path, edits: [{old, new}]}`;
  }
  const [patch] = patches;
  if (!patch || patch.hunks.length === 0)
    return "the patch has no hunk; a unified diff has lines such as @@ -3,4 +3,5 @@";
  if (patches.length > 1)
    return `the patch is about ${patches.length} files; give each file a call of its own`;
  const names = [patch.oldFileName, patch.newFileName];
  if (names.includes("/dev/null")) return "a patch that makes or deletes a file is not taken; use write";
  const named = names.filter((name): name is string => name?.includes(".") === true);
  if (named.length > 0 && !named.some((name) => basename(name.trim()) === basename(path)))
    return `the patch is about ${named.at(-1)}, not about ${path}`;
  return patch;
}

function withLineEnds(hunk: Hunk, end: "\r\n" | "\n"): Hunk {
  const lines = hunk.lines.map((line) => {
    const bare = withoutReturn(line);
    return bare.startsWith("+") && end === "\r\n" ? `${bare}\r` : bare;
  });
  return { ...hunk, lines };
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Which hunk does not fit; hunks are tried one by one, so the first that fails alone is named. */
async function explainMisfit(
  source: string,
  patch: StructuredPatch,
  applyPatch: typeof import("diff").applyPatch,
): Promise<string> {
  const plain = source.replaceAll("\r\n", "\n");
  const at = patch.hunks.findIndex((hunk) => {
    const lines = hunk.lines.map(withoutReturn);
    return applyPatch(plain, { ...patch, hunks: [{ ...hunk, lines }] }) === false;
  });
  const hunk = patch.hunks[at];
  if (!hunk) return "the hunks of the patch do not fit together; their order or end of file is wrong";
  const wanted = hunk.lines.filter((line) => /^[ -]/.test(line)).map((line) => withoutReturn(line).slice(1));
  return `hunk ${at + 1} of ${patch.hunks.length} does not fit: its old lines are not in the file as they stand; ${describeNearLines(plain, wanted.join("\n"))}`;
}
