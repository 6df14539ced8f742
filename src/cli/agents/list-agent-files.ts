import { readdirSync } from "node:fs";
import { join } from "node:path";

const MOST = 2_000;

/** The Markdown files below a folder, in order; hidden folders and links to others are passed over. */
export function listAgentFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\](?:\.|node_modules)/.test(file.slice(folder.length)))
    .sort()
    .slice(0, MOST);
}
