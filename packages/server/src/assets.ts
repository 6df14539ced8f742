import { type Dirent, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { getMimeType } from "hono/utils/mime";

/** One file of the web app. */
type Asset = {
  readonly type: string;
  /** Its name changes with its content, so that it can be kept for ever. */
  readonly isLasting: boolean;
  read(): Promise<Buffer<ArrayBuffer>>;
};

/** Where the page reads the nonce for styles that it makes itself. */
const NONCE = /<meta name="csp-nonce"[^>]*>/i;

/** The files of the web app, by the path they are asked for. */
export type Assets = ReturnType<typeof loadAssets>;

/**
 * Lists the files of a folder once. A path is only ever looked up in that list, never joined to the folder, so that no
 * spelling of a path leads out of it; links are left out.
 */
export function loadAssets(folder: string) {
  const files = new Map(listFiles(folder).map((path) => [path, createAsset(folder, path)]));
  const index = files.get("/index.html");
  files.delete("/index.html");
  return {
    find: (path: string) => files.get(path),
    /** The page that all places of the app begin with, with the nonce for its styles; null if it was not built. */
    async page(nonce: string): Promise<string | null> {
      if (!index) return null;
      const text = (await index.read()).toString("utf8");
      const meta = `<meta name="csp-nonce" content="${nonce}">`;
      if (NONCE.test(text)) return text.replace(NONCE, meta);
      return text.replace(/<head[^>]*>/i, (head) => `${head}${meta}`);
    },
  };
}

/**
 * Whether a path is a place within the app, rather than a file that is missing. A broken agent is named after its file,
 * which may be called anything. Every part ends in a slash or with the path, so that no path takes long to be told.
 */
export function isPlaceInApp(path: string): boolean {
  return /^\/(?:[\w~@:+,-]+(?:\/|$))*$/.test(path) || /^\/agents\/[^/]+$/.test(path);
}

function listFiles(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `/${relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/")}`)
    .filter((path) => /^(?:\/[\w@+-][\w.@+-]*)+$/.test(path) && getMimeType(path) !== undefined);
}

function createAsset(folder: string, path: string): Asset {
  return {
    type: getMimeType(path) ?? "application/octet-stream",
    isLasting: /^\/assets\/.+-[\w-]{8,}\.\w+$/.test(path),
    read: () => readFile(join(folder, path)),
  };
}
