import type { FileHandle } from "node:fs/promises";
import { factsOf, readAt, sha256Of } from "./checksum.ts";
import { CHUNK_BYTES, MAX_FILE_BYTES, Patience, type TransferOptions, type Transferred } from "./transfer.ts";
import { type FileFacts, type RemoteFile, WorkbenchError } from "./workbench.ts";

/**
 * Brings an open file to the workbench. The far side is asked what it has, before the first chunk and after every
 * interruption, and only the rest is sent; memory holds one chunk.
 */
export async function uploadFile(
  source: FileHandle,
  file: RemoteFile,
  options: TransferOptions,
): Promise<Transferred> {
  const { workbench, signal } = options;
  const { size } = await source.stat();
  if (size > MAX_FILE_BYTES)
    throw new WorkbenchError("refused", `it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  const facts = await factsOf(source, signal);
  const patience = new Patience(options);
  let resumedFrom: number | undefined;
  while (true) {
    try {
      const there = await workbench.stat(file, signal);
      if (there?.sha256 === facts.sha256)
        return { ...facts, resumedFrom: resumedFrom ?? facts.size, interruptions: patience.interruptions };
      const upload = await workbench.begin(file, facts, signal);
      resumedFrom ??= upload.received;
      await sendRest(source, upload, options, patience);
      confirm(await workbench.finish(upload, signal), facts);
      return { ...facts, resumedFrom, interruptions: patience.interruptions };
    } catch (thrown) {
      await refuseChanged(source, facts, thrown, signal);
      await patience.afterFailure(thrown);
    }
  }
}

async function sendRest(
  source: FileHandle,
  upload: Awaited<ReturnType<TransferOptions["workbench"]["begin"]>>,
  { workbench, signal, onProgress, chunkBytes = CHUNK_BYTES }: TransferOptions,
  patience: Patience,
): Promise<void> {
  const { size } = upload.facts;
  let offset = upload.received;
  patience.advanced(offset);
  while (offset < size) {
    const bytes = await readAt(source, offset, Math.min(chunkBytes, size - offset));
    if (bytes.length === 0) throw changed();
    const received = await workbench.send(upload, { offset, bytes, sha256: sha256Of(bytes) }, signal);
    if (received <= offset) throw new WorkbenchError("lost", "the workbench has less than it said");
    offset = received;
    patience.advanced(offset);
    onProgress?.(offset, size);
  }
}

function confirm(there: FileFacts, here: FileFacts): void {
  if (there.sha256 !== here.sha256 || there.size !== here.size)
    throw new WorkbenchError("lost", "the workbench holds something else than was sent");
}

/** A far side that says the content is wrong may be right: then no attempt can mend it. */
async function refuseChanged(
  source: FileHandle,
  facts: FileFacts,
  thrown: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!(thrown instanceof WorkbenchError) || thrown.failure !== "lost") return;
  if ((await factsOf(source, signal)).sha256 !== facts.sha256) throw changed();
}

function changed(): WorkbenchError {
  return new WorkbenchError("changed", "the file changed while it was being sent");
}
