import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { MessageOpening } from "../schema/record.ts";
import type { NamedText, RecordOp } from "./record-op.ts";
import { decodeText, encodeText } from "./rows/lossless-text.ts";

/** System prompts, definitions and condensed histories, each kept once under the hash of its text. */
export type PromptTable = {
  /** Keeps a text once, however often it is saved, and returns its id. It goes with the last session whose rows name it. */
  savePrompt(text: string): string;
  prompt(id: string): string | undefined;
};

/** Far more than the agents of a process; only a caller that makes up prompts without end reaches it. */
const MOST_REMEMBERED = 1000;

/** Creates the table over a database that has the schema of the record. */
export function createPromptTable(
  db: DatabaseSync,
  push: (op: RecordOp) => void,
): PromptTable & {
  /**
   * What a row is written with, in one transaction: between a text and the first row that names it another process may
   * have removed the last session that needed the text.
   */
  findNamed(row: MessageOpening): NamedText[];
} {
  const ids = new Map<string, string>();
  const contents = new Map<string, string>();
  const byId = db.prepare("SELECT content FROM prompts WHERE prompt_id = ?");
  return {
    savePrompt(text) {
      const known = ids.get(text);
      if (known !== undefined) return known;
      const content = encodeText(text);
      const id = createHash("sha256").update(content).digest("base64url");
      push({ kind: "savePrompt", name: id, values: [id, content] });
      if (ids.size >= MOST_REMEMBERED) for (const map of [ids, contents]) map.clear();
      ids.set(text, id);
      contents.set(id, content);
      return id;
    },
    prompt(id) {
      const row = byId.get(id);
      return row && decodeText(String(row.content));
    },
    findNamed: ({ systemPromptId = null, metadata = {} }) =>
      listTextIds(systemPromptId, metadata).map((id) => ({ id, content: contents.get(id) ?? null })),
  };
}

/** Ids of the texts that a row names: its system prompt, the definition it ran with, a condensed history. */
export function listTextIds(
  systemPromptId: string | null,
  metadata: Readonly<Record<string, unknown>>,
): string[] {
  const ids = [systemPromptId, metadata.snapshot, metadata.history];
  return ids.filter((id) => typeof id === "string");
}
