import { type FileHandle, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { openForReading, PathRefused, writeInside } from "@retinue/core/files/open-inside";
import { messageOf } from "@retinue/core/schema/error";
import { hashBytes, measureFile, namePart, openPart, readAt, readChecked, removePart } from "./part-file.ts";
import {
  type Chunk,
  type ChunkRequest,
  type FileFacts,
  findPathFault,
  findSessionFault,
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
      throw signal.aborted ? thrown : toWorkbenchError(thrown);
    }
  };
  return {
    name: "the workbench folder",
    hosts: [],
    stat: (file, signal) =>
      within(signal, (root) => withFile(root, file, (handle) => findFacts(handle, known, signal))).catch(
        (thrown) => {
          if (thrown instanceof WorkbenchError && thrown.failure === "not_found") return null;
          throw thrown;
        },
      ),
    begin: (file, facts, signal) =>
      within(signal, async (root) => {
        locateFile(root, file);
        const id = namePart(file, facts);
        return { id, file, facts, received: await countReceived(root, id, facts) };
      }),
    send: (upload, chunk, signal) => within(signal, (root) => addChunk(root, upload, chunk)),
    finish: (upload, signal) => within(signal, (root) => completeUpload(root, upload)),
    read: (file, part, signal) =>
      within(signal, (root) => withFile(root, file, (handle) => readPart(handle, part, known, signal))),
    close: async () => {},
  };
}

/** The real place of a file; names that another program passes on are checked here, too. */
function locateFile(root: string, { session, path }: RemoteFile): string {
  const fault = findSessionFault(session) ?? findPathFault(path);
  if (fault) throw new WorkbenchError("refused", fault);
  return join(root, session, path);
}

async function withFile<Value>(
  root: string,
  file: RemoteFile,
  work: (handle: FileHandle) => Promise<Value>,
): Promise<Value> {
  await using handle = await openForReading(root, locateFile(root, file));
  return await work(handle);
}

/** Size and checksum, worked out once for each state of a file. */
async function findFacts(
  handle: FileHandle,
  known: Map<string, FileFacts>,
  signal: AbortSignal,
): Promise<FileFacts> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  const state = [dev, ino, size, mtimeNs, ctimeNs].join(":");
  const facts = known.get(state) ?? (await measureFile(handle, signal));
  if (known.size >= KEPT_FACTS) known.clear();
  known.set(state, facts);
  return facts;
}

function locatePart(id: string): string {
  if (!/^[0-9a-f]{40}$/.test(id)) throw new WorkbenchError("lost", "there is no such upload");
  return join(UPLOADS, `${id}.part`);
}

async function countReceived(root: string, id: string, { size }: FileFacts): Promise<number> {
  await using handle = await openPart(root, locatePart(id));
  return Math.min((await handle.stat()).size, size);
}

/** What is there already is written again, which changes nothing; a gap is not made. */
async function addChunk(root: string, { id, facts }: Upload, chunk: Chunk): Promise<number> {
  const { offset, bytes, sha256 } = chunk;
  if (hashBytes(bytes) !== sha256) throw new WorkbenchError("lost", "a chunk arrived damaged");
  await using handle = await openPart(root, locatePart(id));
  const { size } = await handle.stat();
  if (offset > size || offset + bytes.length > facts.size) return Math.min(size, facts.size);
  await handle.write(bytes, 0, bytes.length, offset);
  return Math.max(size, offset + bytes.length);
}

async function completeUpload(root: string, { id, file, facts }: Upload): Promise<FileFacts> {
  const part = locatePart(id);
  const handle = await openPart(root, part);
  try {
    const wrong = () => new WorkbenchError("lost", "what arrived is not what was announced");
    await writeInside(root, locateFile(root, file), readChecked(handle, facts, wrong));
    return facts;
  } finally {
    await handle.close();
    // The parts are no longer needed; a wrong one must not be continued.
    await removePart(root, part);
  }
}

async function readPart(
  handle: FileHandle,
  { offset, length, sha256 }: ChunkRequest,
  known: Map<string, FileFacts>,
  signal: AbortSignal,
): Promise<Chunk> {
  const facts = await findFacts(handle, known, signal);
  if (facts.sha256 !== sha256) throw new WorkbenchError("changed", "the file is another one now");
  const bytes = await readAt(handle, offset, length);
  return { offset, bytes, sha256: hashBytes(bytes) };
}

function toWorkbenchError(thrown: unknown): WorkbenchError {
  if (thrown instanceof WorkbenchError) return thrown;
  if ((thrown as NodeJS.ErrnoException).code === "ENOENT")
    return new WorkbenchError("not_found", "there is no such file", { cause: thrown });
  const message = thrown instanceof PathRefused ? "a link, or no file, is in the way" : messageOf(thrown);
  return new WorkbenchError("refused", message, { cause: thrown });
}
