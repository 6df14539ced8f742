import { spawn } from "node:child_process";
import { extname, sep } from "node:path";

/** Kinds of documents, by the ending of their names. */
export type DocumentKind = "html" | "markdown" | "text";

const KINDS: Readonly<Record<string, DocumentKind>> = {
  ".html": "html",
  ".htm": "html",
  ".xhtml": "html",
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "text",
  ".text": "text",
};

/** The kind of a file by its name; undefined for what is no document. */
export function kindOf(path: string): DocumentKind | undefined {
  return KINDS[extname(path).toLowerCase()];
}

/** Documents of one folder that are looked at; those beyond, by name, are left out. */
export const MOST_DOCUMENTS = 20_000;
const MOST_LISTED = 200_000;
const MAX_NAME_CHARS = 8_192;
const LIST_MS = 30_000;

/**
 * The same listing as that of `glob`: ignore files honoured, hidden files and links passed over, nobody's configuration.
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
export async function listDocuments(
  root: string,
  signal: AbortSignal,
): Promise<{ paths: string[]; cut: boolean }> {
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
      if (kindOf(path)) paths.push(path);
    }
    if (paths.length > MOST_LISTED) break;
  }
  return paths;
}
