import { lstat, stat } from "node:fs/promises";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { noteReading, noteSeen, stateName, versionOf } from "@retinue/core/files/seen-files";
import { textWith, whole } from "@retinue/core/schema/shape";
import type { Roots, ToolOutput } from "@retinue/core/tools/tool";
import { MAX_RESULT_CHARS } from "@retinue/core/tools/truncate";
import { describeInput } from "../describe-input.ts";
import { defineLook, FILE_WORDS } from "./define-look.ts";
import { describeState, type FilePlace, findFilePlace, isBinary, readWhole } from "./file-place.ts";
import { listFolder } from "./search-tools.ts";

const DEFAULT_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
/** What a result may have, less the words on how to read on. */
const MAX_CHARS = MAX_RESULT_CHARS - 100;

/** Reads a text file, with line numbers. */
export const read = defineLook({
  name: "read",
  description:
    "Reads a text file of the project, or of the session's workspace as workspace:PATH. Lines are numbered.",
  input: describeInput({
    path: textWith({ minLength: 1 }),
    "offset?": { ...whole, minimum: 1, description: "First line." },
    "limit?": { ...whole, minimum: 1, description: `Lines; ${DEFAULT_LINES} by default.` },
  }),
  words: {
    ...FILE_WORDS,
    paths: "path",
    file_paths: "path",
    files: "path",
    start_line: "offset",
    line: "offset",
    num_lines: "limit",
  },
  accept: acceptRead,
  fileState: async ({ path }, run) => stateBefore(path, run),
  look: async ({ path, offset = 1, limit = DEFAULT_LINES }, context) => {
    const place = findFilePlace(context);
    const isFolder = (await lstat(place.path)).isDirectory();
    return isFolder
      ? `${path} is a folder:\n${await listFolder(context)}`
      : numberLines(await readText(place, context.runId), offset, limit);
  },
});

/** Takes an offset that counts from 0. */
function acceptRead(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (input.offset === undefined || Number(input.offset) !== 0) return input;
  const { offset: _, ...rest } = input;
  return rest;
}

async function readText(place: FilePlace, runId: string): Promise<string> {
  const { bytes, state } = await readWhole(place);
  if (isBinary(bytes)) throw new Error("it is a binary file");
  const version = versionOf(bytes);
  noteReading(place.path, state, version);
  noteSeen(runId, place.path, version);
  return bytes.toString("utf8");
}

function numberLines(text: string, offset: number, limit: number): ToolOutput {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return { text: "(the file is empty)" };
  if (offset > lines.length) return { text: `the file has only ${lines.length} lines`, isError: true };
  const body: string[] = [];
  let room = MAX_CHARS;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    const cut =
      line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}… (${line.length} characters)` : line;
    const row = `${offset + body.length}\t${cut}`;
    room -= row.length + 1;
    if (room < 0) break;
    body.push(row);
  }
  const next = offset + body.length;
  const left = lines.length - (next - 1);
  if (left > 0) body.push(`(${left} more lines; read on with offset ${next})`);
  return { text: body.join("\n") };
}

async function stateBefore(path: string, run: Roots & { runId?: string }): Promise<string | undefined> {
  const target = await pathTarget(path, "read", run);
  if (target.kind !== "path") return undefined;
  const stats = await stat(target.path);
  // What of a folder is shown depends on the run's rights.
  return stats.isFile() ? stateName(target.path, describeState(stats), run.runId) : undefined;
}
