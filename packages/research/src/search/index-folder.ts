import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join, sep } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { openForReading } from "@retinue/core/files/open-inside";
import { findDocumentKind } from "./document-address.ts";
import type { DocumentIndex, IndexedFolder, KnownDocument, NewDocument } from "./document-index.ts";

/** How a folder is brought up to date. */
type IndexOptions = {
  signal: AbortSignal;
  /** Hides secrets: what is kept of a document is a copy that its owner does not know of. */
  redact: (text: string) => string;
  progress: (message: string) => void;
};

const MAX_BYTES = 2_000_000;
const BATCH = 32;
const BATCH_CHARS = 150_000;

/** A file changed so shortly before it was read may change again without a new time. */
const SAME_TIME_MS = 2_000;

/** How long the process is kept from other work at most, but for one document or one transaction. */
const SLICE_MS = 10;
const PROGRESS_EVERY = 500;

/** Brings the index of a folder up to date: only what is new or changed is read, what is gone drops out. */
export async function indexFolder(
  index: DocumentIndex,
  folder: IndexedFolder,
  options: IndexOptions,
): Promise<{ written: number; cut: boolean }> {
  const { signal, progress } = options;
  const { paths, cut } = await listDocuments(folder.root, signal);
  const known = index.known(folder.id);
  let written = 0;
  let told = 0;
  for (let at = 0; at < paths.length; at += BATCH) {
    signal.throwIfAborted();
    const found = await Promise.all(
      paths.slice(at, at + BATCH).map((path) => lookAtFile(folder, path, known.get(path))),
    );
    for (const each of found) if (each.kind !== "left") known.delete(each.path);
    written += await takeFound(index, folder, found, options);
    if (written - told >= PROGRESS_EVERY) {
      told = written;
      progress(`indexing documents: ${Math.min(at + BATCH, paths.length)} of ${paths.length}`);
    }
    await pause();
  }
  const gone = [...known.values()].map(({ id }) => id);
  for (let at = 0; at < gone.length; at += BATCH) {
    index.remove(gone.slice(at, at + BATCH));
    await pause();
  }
  return { written, cut };
}

type Looked =
  | { kind: "same" | "left"; path: string }
  | { kind: "touched"; path: string; id: number; stamp: string }
  | { kind: "changed"; path: string; stamp: string; hash: string; bytes: Buffer };

/** Reads a file if its times or size say that it may have changed. */
async function lookAtFile(
  { root }: IndexedFolder,
  path: string,
  before: KnownDocument | undefined,
): Promise<Looked> {
  try {
    const full = join(root, path);
    const stats = await lstat(full, { bigint: true });
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: "left", path };
    const isFresh = Date.now() - Number(stats.mtimeMs) < SAME_TIME_MS;
    const stamp = isFresh ? "" : `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}`;
    if (before && stamp !== "" && before.stamp === stamp) return { kind: "same", path };
    const bytes = await readBytes(root, full);
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (before?.hash === hash) return { kind: "touched", path, id: before.id, stamp };
    return { kind: "changed", path, stamp, hash, bytes };
  } catch {
    return { kind: "left", path };
  }
}

async function readBytes(root: string, full: string): Promise<Buffer> {
  await using handle = await openForReading(root, full);
  const bytes = await handle.readFile();
  if (bytes.length > MAX_BYTES) throw new Error("it has grown too large");
  return bytes;
}

/** Brings what was found into the index; says how many documents were written. */
async function takeFound(
  index: DocumentIndex,
  folder: IndexedFolder,
  found: readonly Looked[],
  { redact, signal }: IndexOptions,
): Promise<number> {
  const touched = found.filter((each) => each.kind === "touched");
  if (touched.length > 0) index.touch(touched);
  const changed = found.filter((each) => each.kind === "changed");
  if (changed.length === 0) return 0;
  // Brings the reader of markup along, which is not needed before.
  const { readDocument } = await import("./document-text.ts");
  let batch: NewDocument[] = [];
  let chars = 0;
  let since = performance.now();
  for (const { path, stamp, hash, bytes } of changed) {
    const { title, text } = readDocument(path, bytes) ?? { title: "", text: "" };
    batch.push({ path, stamp, hash, title: redact(title), text: redact(text) });
    chars += text.length;
    if (chars >= BATCH_CHARS) {
      index.write(folder.id, batch);
      [batch, chars] = [[], 0];
    }
    if (performance.now() - since < SLICE_MS) continue;
    await pause();
    signal.throwIfAborted();
    since = performance.now();
  }
  index.write(folder.id, batch);
  return changed.length;
}

/** Documents of one folder that are looked at; those beyond, by name, are left out. */
const MOST_DOCUMENTS = 20_000;
const MOST_LISTED = 200_000;
const MAX_NAME_CHARS = 8_192;
const LIST_MS = 30_000;

/**
 * The same listing as that of `glob`: ignore files count, hidden files and links are left out, and no configuration file is read.
 * Endings are not asked for here, since a glob that includes would overrule the ignore files.
 */
const ARGS = [
  "--files",
  "--no-config",
  "--no-messages",
  "--no-require-git",
  "--no-ignore-global",
  "--null",
  "--glob=!**/node_modules",
  "--glob=!**/.git",
  "--",
  ".",
];

/** Paths of the documents below a folder, relative to it with forward slashes, in order; `cut` if there are more. */
async function listDocuments(root: string, signal: AbortSignal): Promise<{ paths: string[]; cut: boolean }> {
  const { rgPath } = await import("@vscode/ripgrep");
  const child = spawn(rgPath, ARGS, {
    cwd: root,
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    signal: AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]),
    killSignal: "SIGKILL",
  });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  failed.catch(() => {});
  const reading = readNames(child.stdout.setEncoding("utf8"));
  try {
    const paths = await Promise.race([reading, failed]);
    paths.sort();
    return { paths: paths.slice(0, MOST_DOCUMENTS), cut: paths.length > MOST_DOCUMENTS };
  } finally {
    reading.catch(() => {});
    child.kill("SIGKILL");
  }
}

async function readNames(output: AsyncIterable<string>): Promise<string[]> {
  const paths: string[] = [];
  let rest = "";
  for await (const text of output) {
    const pieces = `${rest}${text}`.split("\0");
    rest = (pieces.pop() ?? "").slice(0, MAX_NAME_CHARS);
    for (const piece of pieces) {
      const path = piece
        .replace(/^\.[/\\]/, "")
        .split(sep)
        .join("/");
      if (findDocumentKind(path)) paths.push(path);
    }
    if (paths.length > MOST_LISTED) break;
  }
  return paths;
}
