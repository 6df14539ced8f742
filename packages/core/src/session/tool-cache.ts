import type { ToolCache } from "../run/ports.ts";

const MAX_ENTRIES = 500;
const MAX_ENTRY_CHARS = 64_000;

/** Outputs of safe tools, shared by all runs of a session; the least recently used goes first. */
export function createToolCache(): ToolCache {
  const entries = new Map<string, { text: string; tainted: boolean }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    set(key, output) {
      if (output.text.length > MAX_ENTRY_CHARS) return;
      entries.set(key, output);
      const oldest = entries.keys().next().value;
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
    },
  };
}
