import type { FileHandle } from "node:fs/promises";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { openForReading, PathRefused, writeInside } from "../../../files/open-inside.ts";
import { messageOf } from "../../../schema/error.ts";
import { checkedPieces, factsOf, readAt, sha256Of } from "./checksum.ts";
import { openPart, partName, removePart } from "./part-file.ts";
import { remotePathFault, remoteSessionFault } from "./remote-path.ts";
import {
  type Chunk,
  type ChunkRequest,
  type FileFacts,
  type RemoteFile,
  type Upload,
  type Workbench,
  WorkbenchError,
} from "./workbench.ts";

/** No session can have this name. */
const UPLOADS = ".uploads";
const KEPT_FACTS = 256;

/** A workbench that is a folder of this machine, with one folder per session below it. */
export function createFolderWorkbench(folder: string): Workbench {
  const known = new Map<string, FileFacts>();
  const within = async <Value>(
    signal: AbortSignal,
    work: (root: string) => Promise<Value>,
  ): Promise<Value> => {
    try {
      signal.throwIfAborted();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return await work(await realpath(folder));
    } catch (thrown) {
      throw signal.aborted ? thrown : faultOf(thrown);
    }
  };
  return {
    name: "the workbench folder",
    hosts: [],
    stat: (file, signal) =>
      within(signal, (root) => withFile(root, file, (handle) => factsNow(handle, known, signal), null)),
    begin: (file, facts, signal) =>
      within(signal, async (root) => {
        pathOf(root, file);
        const id = partName(file, facts);
        return { id, file, facts, received: await receivedOf(root, id, facts) };
      }),
    send: (upload, chunk, signal) => within(signal, (root) => addChunk(root, upload, chunk)),
    finish: (upload, signal) => within(signal, (root) => complete(root, upload)),
    read: (file, part, signal) =>
      within(signal, (root) => withFile(root, file, (handle) => readPart(handle, part, known, signal))),
    close: async () => {},
  };
}

/** The real place of a file; whoever passes on other people's words is refused here too. */
function pathOf(root: string, { session, path }: RemoteFile): string {
  const fault = remoteSessionFault(session) ?? remotePathFault(path);
  if (fault) throw new WorkbenchError("refused", fault);
  return join(root, session, path);
}

async function withFile<Value, Missing = never>(
  root: string,
  file: RemoteFile,
  work: (handle: FileHandle) => Promise<Value>,
  missing?: Missing,
): Promise<Value | Missing> {
  const handle = await openForReading(root, pathOf(root, file)).catch((thrown) => {
    if (thrown.code === "ENOENT" && missing !== undefined) return null;
    throw thrown;
  });
  if (!handle) return missing as Missing;
  return work(handle).finally(() => handle.close());
}

/** Size and checksum, worked out once for each state of a file. */
async function factsNow(
  handle: FileHandle,
  known: Map<string, FileFacts>,
  signal: AbortSignal,
): Promise<FileFacts> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  const state = [dev, ino, size, mtimeNs, ctimeNs].join(":");
  const facts = known.get(state) ?? (await factsOf(handle, signal));
  if (known.size >= KEPT_FACTS) known.clear();
  known.set(state, facts);
  return facts;
}

function partOf(id: string): string {
  if (!/^[0-9a-f]{40}$/.test(id)) throw new WorkbenchError("lost", "there is no such upload");
  return join(UPLOADS, `${id}.part`);
}

async function receivedOf(root: string, id: string, { size }: FileFacts): Promise<number> {
  const handle = await openPart(root, partOf(id));
  try {
    return Math.min((await handle.stat()).size, size);
  } finally {
    await handle.close();
  }
}

/** What is there already is written again, which changes nothing; a gap is not made. */
async function addChunk(root: string, { id, facts }: Upload, chunk: Chunk): Promise<number> {
  const { offset, bytes, sha256 } = chunk;
  if (sha256Of(bytes) !== sha256) throw new WorkbenchError("lost", "a chunk arrived damaged");
  const handle = await openPart(root, partOf(id));
  try {
    const { size } = await handle.stat();
    if (offset > size || offset + bytes.length > facts.size) return Math.min(size, facts.size);
    await handle.write(bytes, 0, bytes.length, offset);
    return Math.max(size, offset + bytes.length);
  } finally {
    await handle.close();
  }
}

async function complete(root: string, { id, file, facts }: Upload): Promise<FileFacts> {
  const part = partOf(id);
  const handle = await openPart(root, part);
  try {
    const wrong = () => new WorkbenchError("lost", "what arrived is not what was announced");
    await writeInside(root, pathOf(root, file), checkedPieces(handle, facts, wrong));
    return facts;
  } finally {
    await handle.close();
    // Right or wrong, these parts have served: a wrong one must not be gone on with.
    await removePart(root, part);
  }
}

async function readPart(
  handle: FileHandle,
  { offset, length, sha256 }: ChunkRequest,
  known: Map<string, FileFacts>,
  signal: AbortSignal,
): Promise<Chunk> {
  const facts = await factsNow(handle, known, signal);
  if (facts.sha256 !== sha256) throw new WorkbenchError("changed", "the file is another one now");
  const bytes = await readAt(handle, offset, length);
  return { offset, bytes, sha256: sha256Of(bytes) };
}

function faultOf(thrown: unknown): WorkbenchError {
  if (thrown instanceof WorkbenchError) return thrown;
  if ((thrown as NodeJS.ErrnoException).code === "ENOENT")
    return new WorkbenchError("not_found", "there is no such file", { cause: thrown });
  const message = thrown instanceof PathRefused ? "a link, or no file, is in the way" : messageOf(thrown);
  return new WorkbenchError("refused", message, { cause: thrown });
}
