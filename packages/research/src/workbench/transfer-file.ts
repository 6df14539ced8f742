import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeInside } from "@retinue/core/files/open-inside";
import { hashBytes, measureFile, namePart, openPart, readAt, readChecked, removePart } from "./part-file.ts";
import {
  type FileFacts,
  type RemoteFile,
  type Workbench,
  WorkbenchError,
  type WorkbenchFailure,
} from "./workbench.ts";

/** What goes on the way at once. */
const CHUNK_BYTES = 512 * 1024;
/** Larger files are refused, both ways. */
const MAX_TRANSFER_BYTES = 2 * 1024 * 1024 * 1024;

/** How a file is brought from one side to the other. */
export type TransferOptions = {
  workbench: Workbench;
  signal: AbortSignal;
  /** Told how many bytes are across. */
  onProgress?: (bytes: number, size: number) => void;
  chunkBytes?: number;
  /** How often in a row an exchange may fail before the transfer is given up. */
  patience?: number;
  /** Wait after a failure, doubled each time. */
  backoffMs?: number;
};

/** What came of a transfer. */
export type Transferred = {
  size: number;
  sha256: string;
  /** Bytes that were across already when it began. */
  resumedFrom: number;
  /** How often it was interrupted. */
  interruptions: number;
};

const PATIENCE = 4;
const BACKOFF_MS = 500;
const REPEATABLE: ReadonlySet<WorkbenchFailure> = new Set(["unreachable", "lost"]);

/**
 * Counts failures in a row. After a failure that another attempt may fix, it waits; every step forward resets the count.
 */
class Patience {
  interruptions = 0;
  readonly #options: TransferOptions;
  #inARow = 0;
  #furthest = -1;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  /** Something arrived: as far as this. What was there before does not count again. */
  advanced(to: number): void {
    if (to <= this.#furthest) return;
    this.#furthest = to;
    this.#inARow = 0;
  }

  /** Waits before the next attempt, or throws if there is to be none. */
  async afterFailure(thrown: unknown): Promise<void> {
    const { signal, patience = PATIENCE, backoffMs = BACKOFF_MS } = this.#options;
    signal.throwIfAborted();
    if (!(thrown instanceof WorkbenchError) || !REPEATABLE.has(thrown.failure)) throw thrown;
    this.interruptions++;
    if (++this.#inARow > patience) throw thrown;
    await sleep(backoffMs * 2 ** (this.#inARow - 1), undefined, { signal });
  }
}

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
  if (size > MAX_TRANSFER_BYTES)
    throw new WorkbenchError("refused", `it has ${size} bytes, more than ${MAX_TRANSFER_BYTES}`);
  const facts = await measureFile(source, signal);
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
      confirmFacts(await workbench.finish(upload, signal), facts);
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
    if (bytes.length === 0) throw describeChanged();
    const received = await workbench.send(upload, { offset, bytes, sha256: hashBytes(bytes) }, signal);
    if (received <= offset) throw new WorkbenchError("lost", "the workbench has less than it said");
    offset = received;
    patience.advanced(offset);
    onProgress?.(offset, size);
  }
}

function confirmFacts(there: FileFacts, here: FileFacts): void {
  if (there.sha256 !== here.sha256 || there.size !== here.size)
    throw new WorkbenchError("lost", "the workbench holds something else than was sent");
}

/** A far side that says the content is wrong may be right: then no further attempt can help. */
async function refuseChanged(
  source: FileHandle,
  facts: FileFacts,
  thrown: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!(thrown instanceof WorkbenchError) || thrown.failure !== "lost") return;
  if ((await measureFile(source, signal)).sha256 !== facts.sha256) throw describeChanged();
}

function describeChanged(): WorkbenchError {
  return new WorkbenchError("changed", "the file changed while it was being sent");
}

/** Where a download goes, and where its parts are collected until it is whole. */
type Destination = {
  root: string;
  path: string;
  /** Folder whose `.transfers` holds the parts. */
  partsRoot: string;
  /** Called once the whole is there, before the file is put in its place. */
  beforeChange(path: string): Promise<void>;
};

/** What came of a download. */
type Downloaded = Transferred & { kind: "created" | "modified" };

/**
 * Brings a file from the workbench. Its parts outlive the call, so that another one continues with them; the file itself
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
      const facts = await statRemote(file, options);
      const part = join(".transfers", `${namePart(file, facts)}.part`);
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

async function statRemote(file: RemoteFile, { workbench, signal }: TransferOptions): Promise<FileFacts> {
  const facts = await workbench.stat(file, signal);
  if (!facts) throw new WorkbenchError("not_found", `there is no ${file.path} in session ${file.session}`);
  if (facts.size > MAX_TRANSFER_BYTES)
    throw new WorkbenchError("refused", `it has ${facts.size} bytes, more than ${MAX_TRANSFER_BYTES}`);
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
    return await writeInside(root, path, readChecked(handle, facts, wrong));
  } catch (thrown) {
    // Wrong parts must not be continued.
    if (thrown instanceof WorkbenchError) await handle.truncate(0);
    throw thrown;
  }
}
