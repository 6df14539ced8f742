import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { RecordOp } from "./record-writer.ts";
import { decodeText, encodeText } from "./rows/lossless-text.ts";

/** System prompts, each kept once under the hash of its text. */
export type PromptTable = {
  /** Keeps a text once, however often it is saved, and returns its id. */
  savePrompt(text: string): string;
  prompt(id: string): string | undefined;
};

/** Far more than the agents of a process; only a caller that makes up prompts without end reaches it. */
const MOST_REMEMBERED = 1000;

/** Creates the table over a database that has the schema of the record. */
export function createPromptTable(db: DatabaseSync, push: (op: RecordOp) => void): PromptTable {
  const saved = new Map<string, string>();
  const byId = db.prepare("SELECT content FROM prompts WHERE prompt_id = ?");
  return {
    savePrompt(text) {
      const known = saved.get(text);
      if (known !== undefined) return known;
      const content = encodeText(text);
      const id = createHash("sha256").update(content).digest("base64url");
      push({ kind: "savePrompt", name: id, values: [id, content] });
      if (saved.size >= MOST_REMEMBERED) saved.clear();
      saved.set(text, id);
      return id;
    },
    prompt(id) {
      const row = byId.get(id);
      return row && decodeText(String(row.content));
    },
  };
}
