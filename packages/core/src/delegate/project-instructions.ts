import { dirname, join, relative } from "node:path";
import { openForReading } from "../files/open-inside.ts";
import { cutAt } from "../tools/truncate.ts";

/** What a project tells every agent that works in it. */
export type ProjectInstructions = { readonly file: string; readonly text: string };

/** In the order in which the first of a folder is taken. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];
const MAX_CHARS = 8_000;
const MAX_BYTES = 1_000_000;

/** The nearest AGENTS.md or CLAUDE.md, from the folder that is worked in up to the project's own. */
export async function readInstructions(
  projectDir: string,
  folder = projectDir,
): Promise<ProjectInstructions | null> {
  for (let at = folder; ; at = dirname(at)) {
    for (const name of NAMES) {
      const text = await tryRead(projectDir, join(at, name));
      if (text) return { file: relative(projectDir, join(at, name)), text };
    }
    if (at === projectDir || dirname(at) === at) return null;
  }
}

async function tryRead(projectDir: string, file: string): Promise<string | null> {
  const handle = await openForReading(projectDir, file).catch(() => null);
  if (!handle) return null;
  try {
    const { size } = await handle.stat();
    if (size === 0 || size > MAX_BYTES) return null;
    const text = (await handle.readFile("utf8")).trim();
    const left = text.length - MAX_CHARS;
    return left > 0 ? `${cutAt(text, MAX_CHARS)}\n[${left} characters more in the file]` : text;
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}
