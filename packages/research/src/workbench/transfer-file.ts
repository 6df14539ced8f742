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

/** Says how far an attempt has come. */
type Advanced = (to: number) => void;

/**
 * Attempts a transfer until it is done. A failure that another attempt may fix is waited out, unless there were too many
 * in a row; every step beyond what was there before begins the count anew.
 */
async function persist<Done>(
  { signal, patience = PATIENCE, backoffMs = BACKOFF_MS }: TransferOptions,
  attempt: (advanced: Advanced) => Promise<Done>,
): Promise<Done & Pick<Transferred, "interruptions">> {
  let interruptions = 0;
  let inARow = 0;
  let furthest = -1;
  const advanced = (to: number) => {
    if (to <= furthest) return;
    furthest = to;
    inARow = 0;
  };
  while (true) {
    try {
      return { ...(await attempt(advanced)), interruptions };
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof WorkbenchError) || !REPEATABLE.has(thrown.failure)) throw thrown;
      interruptions++;
      if (++inARow > patience) throw thrown;
      await sleep(backoffMs * 2 ** (inARow - 1), undefined, { signal });
    }
  }
}

/** Exchanges piece after piece until all is across; `exchange` says how far it has come. */
async function bringAcross(
  { from, size }: { from: number; size: number },
  { onProgress }: TransferOptions,
  advanced: Advanced,
  exchange: (offset: number) => Promise<number>,
): Promise<void> {
  let offset = from;
  advanced(offset);
  while (offset < size) {
    offset = await exchange(offset);
    advanced(offset);
    onProgress?.(offset, size);
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
  const { workbench, signal, chunkBytes = CHUNK_BYTES } = options;
  refuseLarge(await source.stat());
  const facts = await measureFile(source, signal);
  const { size } = facts;
  let resumedFrom: number | undefined;
  return persist(options, async (advanced) => {
    try {
      const there = await workbench.stat(file, signal);
      if (there?.sha256 === facts.sha256) return { ...facts, resumedFrom: resumedFrom ?? size };
      const upload = await workbench.begin(file, facts, signal);
      resumedFrom ??= upload.received;
      await bringAcross({ from: upload.received, size }, options, advanced, async (offset) => {
        const bytes = await readAt(source, offset, Math.min(chunkBytes, size - offset));
        if (bytes.length === 0) throw describeChanged();
        const received = await workbench.send(upload, { offset, bytes, sha256: hashBytes(bytes) }, signal);
        if (received <= offset) throw new WorkbenchError("lost", "the workbench has less than it said");
        return received;
      });
      confirmFacts(await workbench.finish(upload, signal), facts);
      return { ...facts, resumedFrom };
    } catch (thrown) {
      await refuseChanged(source, facts, thrown, signal);
      throw thrown;
    }
  });
}

function refuseLarge({ size }: Pick<FileFacts, "size">): void {
  if (size > MAX_TRANSFER_BYTES)
    throw new WorkbenchError("refused", `it has ${size} bytes, more than ${MAX_TRANSFER_BYTES}`);
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
  const { workbench, signal, chunkBytes = CHUNK_BYTES } = options;
  const { partsRoot } = destination;
  let resumedFrom: number | undefined;
  return persist(options, async (advanced) => {
    const facts = await workbench.stat(file, signal);
    if (!facts) throw new WorkbenchError("not_found", `there is no ${file.path} in session ${file.session}`);
    refuseLarge(facts);
    const { size, sha256 } = facts;
    const part = join(".transfers", `${namePart(file, facts)}.part`);
    await using handle = await openPart(partsRoot, part);
    try {
      const from = Math.min((await handle.stat()).size, size);
      resumedFrom ??= from;
      await bringAcross({ from, size }, options, advanced, async (offset) => {
        const length = Math.min(chunkBytes, size - offset);
        const { bytes } = await workbench.read(file, { offset, length, sha256 }, signal);
        if (bytes.length === 0) throw new WorkbenchError("protocol", "the file ends before its end");
        await handle.write(bytes, 0, bytes.length, offset);
        return offset + bytes.length;
      });
      const kind = await putInPlace(handle, facts, destination);
      await removePart(partsRoot, part);
      return { ...facts, resumedFrom, kind };
    } catch (thrown) {
      if (!(thrown instanceof WorkbenchError) || thrown.failure !== "changed") throw thrown;
      await removePart(partsRoot, part);
      throw new WorkbenchError("lost", thrown.message, { cause: thrown });
    }
  });
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
