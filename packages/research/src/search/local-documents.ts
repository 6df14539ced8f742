import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { openForReading } from "@retinue/core/files/open-inside";
import { pathTarget, resolvePath } from "@retinue/core/files/resolve-path";
import { orAborted } from "@retinue/core/net/or-aborted";
import { createRedactor } from "@retinue/core/redact/create-redactor";
import { secretsFromEnvironment } from "@retinue/core/redact/secrets-from-environment";
import { messageOf } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import type { SearchSettings } from "@retinue/core/schema/settings";
import type { HostPlaces, Roots } from "@retinue/core/tools/tool";
import type { FetchOutcome } from "../egress/guarded-fetch.ts";
import {
  buildDocumentAddress,
  DOCUMENT_TYPES,
  findDocumentKind,
  parseDocumentAddress,
} from "./document-address.ts";
import { DocumentIndex, type IndexedFolder } from "./document-index.ts";
import { indexFolder } from "./index-folder.ts";
import type { SearchHit, SearchOptions, SearchProvider } from "./search-provider.ts";

/** Matches looked at for those that a run may see. */
const MOST_MATCHES = 400;
const byRuntime = new WeakMap<HostPlaces, LocalDocuments>();

/** The documents of a runtime: one index for all of its tools. */
export function findLocalDocuments(
  { folders }: Pick<SearchSettings, "folders">,
  places: HostPlaces,
): LocalDocuments {
  let documents = byRuntime.get(places);
  if (!documents) {
    documents = new LocalDocuments(folders, places);
    byRuntime.set(places, documents);
  }
  return documents;
}

/** Documents on this machine: an index of them, and addresses by which they are read like pages of the web. */
export class LocalDocuments implements SearchProvider {
  readonly name = "local documents";
  readonly hosts = [];
  readonly #folders: readonly string[];
  readonly #dataDir: string;
  readonly #file: string;
  readonly #redact: (text: string) => string;
  readonly #closed = new AbortController();
  readonly #indexing = new Map<string, Promise<void>>();
  #index: DocumentIndex | undefined;

  constructor(folders: readonly string[], { dataDir, env }: HostPlaces) {
    this.#folders = folders;
    this.#dataDir = dataDir;
    this.#file = join(dataDir, "documents.db");
    const redactor = createRedactor({ secrets: secretsFromEnvironment(env) });
    this.#redact = (text) => redactor.redact(text);
  }

  async search(query: string, { limit, signal, run }: SearchOptions): Promise<readonly SearchHit[]> {
    const roots = await this.#roots(run);
    const folders = roots.map((root) => this.#open().folder(root));
    await orAborted(Promise.all(folders.map((folder) => this.#refresh(folder, run.progress))), signal);
    const hits: SearchHit[] = [];
    const byId = new Map(folders.map((folder) => [folder.id, folder]));
    const index = this.#open();
    for (const match of index.search(query, [...byId.keys()], MOST_MATCHES)) {
      const folder = byId.get(match.folderId);
      if (!folder || !run.maySee(await pathTarget(join(folder.root, match.path), "read", run))) continue;
      const url = buildDocumentAddress(folder.key, match.path);
      hits.push({ title: match.title, url, snippet: index.snippet(match) });
      if (hits.length >= limit) break;
    }
    return hits;
  }

  /** Whether this is the address of a document. */
  has(url: string): boolean {
    return this.#find(url) !== undefined;
  }

  /** The document at an address, as if it had been fetched from there; undefined for other addresses. */
  async read(url: string, maxBytes: number): Promise<FetchOutcome | undefined> {
    const found = this.#find(url);
    const kind = found && findDocumentKind(found.path);
    if (!found || !kind) return undefined;
    await using handle = await openForReading(found.root, join(found.root, found.path)).catch(() => null);
    if (!handle) return { status: "failed", kind: "not_found", reason: "the document is not there any more" };
    if ((await handle.stat()).size > maxBytes)
      return { status: "failed", kind: "too_large", reason: "the document is larger than web.maxPageMb" };
    const { decodePage } = await import("../egress/guarded-fetch.ts");
    const contentType = DOCUMENT_TYPES[kind];
    return { status: "ok", url, contentType, ...decodePage(await handle.readFile(), contentType) };
  }

  /** The file behind a document's address, by which rights are to be judged; undefined for other addresses. */
  async findTarget(url: string, roots: Roots): Promise<Target | undefined> {
    const found = this.#find(url);
    return found && pathTarget(join(found.root, found.path), "read", roots);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the documents are closed"));
    await Promise.allSettled(this.#indexing.values());
    this.#index?.close();
    this.#index = undefined;
  }

  #open(): DocumentIndex {
    this.#closed.signal.throwIfAborted();
    if (this.#index) return this.#index;
    const index = new DocumentIndex(this.#file);
    this.#index = index;
    // Worktrees come and go; any other folder may be on a disk that is only away for now.
    for (const { id, root } of index.folders())
      if (isBelow(root, this.#dataDir) && !existsSync(root)) index.forget(id);
    return index;
  }

  #find(url: string): { root: string; path: string } | undefined {
    const parts = parseDocumentAddress(url);
    if (!parts || (!this.#index && !existsSync(this.#file))) return undefined;
    return this.#open().find(parts.key, parts.path);
  }

  /** Several searches at once share one look at a folder; one that fails leaves what was known before. */
  async #refresh(folder: IndexedFolder, progress: (message: string) => void): Promise<void> {
    const running = this.#indexing.get(folder.root);
    if (running) return running;
    const signal = this.#closed.signal;
    const work = indexFolder(this.#open(), folder, { signal, redact: this.#redact, progress })
      .then(({ written, cut }) => {
        if (written > 0) progress(`indexed ${written} documents of ${folder.root}`);
        if (cut) progress(`${folder.root} has more documents than are searched`);
      })
      .catch((thrown) => {
        if (!signal.aborted) progress(`documents could not all be indexed: ${messageOf(thrown)}`);
      })
      .finally(() => this.#indexing.delete(folder.root));
    this.#indexing.set(folder.root, work);
    return work;
  }

  /** Real paths of the folders for a run. A relative one must stay in the project, or a link could lead anywhere. */
  async #roots({ projectDir, progress }: SearchOptions["run"]): Promise<string[]> {
    const project = await realpath(projectDir);
    const roots = new Set<string>();
    const faults: string[] = [];
    for (const folder of this.#folders) {
      const path = await resolvePath(folder, project);
      const isOwn = isAbsolute(folder) || folder === "~" || folder.startsWith("~/");
      const isFolder = await stat(path).then(
        (stats) => stats.isDirectory(),
        () => false,
      );
      if (!isFolder) faults.push(`${folder} is not a folder`);
      else if (!isOwn && !isBelow(path, project)) faults.push(`${folder} leads out of the project`);
      else roots.add(path);
    }
    const inner = [...roots].filter(
      (root) => ![...roots].some((other) => other !== root && isBelow(root, other)),
    );
    if (inner.length === 0)
      throw new Error(`no folder can be searched: ${faults.join("; ") || "none is named"}`);
    for (const fault of faults) progress(`not searched: ${fault}`);
    return inner;
  }
}
