import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Whose history it is. */
export type HistoryOf = { dataDir: string; projectDir: string };

const MOST_KEPT = 500;
const MOST_CHARS = 20_000;

/** What was typed in this project before, the oldest first; nothing if it cannot be read. */
export async function loadHistory(of: HistoryOf): Promise<string[]> {
  const path = pathOf(of);
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.split("\n").filter(Boolean);
  const items = lines.flatMap(parsed).slice(-MOST_KEPT);
  if (lines.length > 2 * MOST_KEPT) await rewrite(path, items).catch(() => {});
  return items;
}

/** Adds what was typed, in a file that only its owner can read. */
export async function rememberInput(of: HistoryOf, text: string): Promise<void> {
  if (text.length > MOST_CHARS) return;
  const path = pathOf(of);
  await mkdir(join(of.dataDir, "history"), { recursive: true, mode: 0o700 });
  await appendFile(path, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}

function pathOf({ dataDir, projectDir }: HistoryOf): string {
  const name = createHash("sha256").update(projectDir).digest("hex").slice(0, 16);
  return join(dataDir, "history", `${name}.jsonl`);
}

function parsed(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}

async function rewrite(path: string, items: readonly string[]): Promise<void> {
  await writeFile(`${path}.new`, items.map((item) => `${JSON.stringify(item)}\n`).join(""), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
