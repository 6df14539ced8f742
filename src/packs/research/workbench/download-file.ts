import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { writeInside } from "../../../files/open-inside.ts";
import { checkedPieces } from "./checksum.ts";
import { openPart, partName, removePart } from "./part-file.ts";
import { CHUNK_BYTES, MAX_FILE_BYTES, Patience, type TransferOptions, type Transferred } from "./transfer.ts";
import { type FileFacts, type RemoteFile, WorkbenchError } from "./workbench.ts";

/** Where a download goes, and where its parts are collected until it is whole. */
export type Destination = {
  root: string;
  path: string;
  /** Folder whose `.transfers` holds the parts. */
  partsRoot: string;
  /** Called once the whole is there, before the file is put in its place. */
  beforeChange(path: string): Promise<void>;
};

/** What came of a download. */
export type Downloaded = Transferred & { kind: "created" | "modified" };

/**
 * Brings a file from the workbench. Its parts outlive the call, so that another one goes on with them; the file itself
 * changes only in one step, once the whole has the checksum that the far side named.
 */
export async function downloadFile(
  file: RemoteFile,
  destination: Destination,
  options: TransferOptions,
): Promise<Downloaded> {
  const patience = new Patience(options);
  let resumedFrom: number | undefined;
  while (true) {
    try {
      const facts = await statOf(file, options);
      const part = join(".transfers", `${partName(file, facts)}.part`);
      const handle = await openPart(destination.partsRoot, part);
      try {
        const already = Math.min((await handle.stat()).size, facts.size);
        resumedFrom ??= already;
        await readRest(handle, { file, facts, offset: already }, options, patience);
        const kind = await putInPlace(handle, facts, destination);
        await removePart(destination.partsRoot, part);
        return { ...facts, resumedFrom, interruptions: patience.interruptions, kind };
      } catch (thrown) {
        if (!(thrown instanceof WorkbenchError) || thrown.failure !== "changed") throw thrown;
        await removePart(destination.partsRoot, part);
        throw new WorkbenchError("lost", thrown.message, { cause: thrown });
      } finally {
        await handle.close();
      }
    } catch (thrown) {
      await patience.afterFailure(thrown);
    }
  }
}

async function statOf(file: RemoteFile, { workbench, signal }: TransferOptions): Promise<FileFacts> {
  const facts = await workbench.stat(file, signal);
  if (!facts) throw new WorkbenchError("not_found", `there is no ${file.path} in session ${file.session}`);
  if (facts.size > MAX_FILE_BYTES)
    throw new WorkbenchError("refused", `it has ${facts.size} bytes, more than ${MAX_FILE_BYTES}`);
  return facts;
}

async function readRest(
  handle: FileHandle,
  from: { file: RemoteFile; facts: FileFacts; offset: number },
  { workbench, signal, onProgress, chunkBytes = CHUNK_BYTES }: TransferOptions,
  patience: Patience,
): Promise<void> {
  const { file, facts } = from;
  let { offset } = from;
  patience.advanced(offset);
  while (offset < facts.size) {
    const length = Math.min(chunkBytes, facts.size - offset);
    const { bytes } = await workbench.read(file, { offset, length, sha256: facts.sha256 }, signal);
    if (bytes.length === 0) throw new WorkbenchError("protocol", "the file ends before its end");
    await handle.write(bytes, 0, bytes.length, offset);
    offset += bytes.length;
    patience.advanced(offset);
    onProgress?.(offset, facts.size);
  }
}

async function putInPlace(
  handle: FileHandle,
  facts: FileFacts,
  { root, path, beforeChange }: Destination,
): Promise<"created" | "modified"> {
  const wrong = () => new WorkbenchError("lost", "what arrived has another checksum than the file");
  try {
    await beforeChange(path);
    return await writeInside(root, path, checkedPieces(handle, facts, wrong));
  } catch (thrown) {
    // Wrong parts must not be gone on with.
    if (thrown instanceof WorkbenchError) await handle.truncate(0);
    throw thrown;
  }
}
