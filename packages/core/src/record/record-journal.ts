import { createHash } from "node:crypto";
import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";
import { encodeText } from "./lossless-text.ts";
import type { Record } from "./record.ts";

/**
 * Ids of one block; what is not used of it stays unused. More than any moment can take before the next block is there; a
 * safe integer has room for eight billion blocks.
 */
const BLOCK = 2 ** 20;

/**
 * The record as runs write it: rows have their ids at once, from blocks that no other process has, and nobody waits for
 * the disk who does not want to.
 */
export async function createRecordJournal(
  record: Pick<Record, "reserveRowIds" | "append" | "committed">,
): Promise<Journal> {
  let next = await record.reserveRowIds(BLOCK);
  let end = next + BLOCK;
  let spare: number | undefined;
  let isReserving = false;

  /** The next block is there long before this one is used up. */
  function reserve(): void {
    if (isReserving || spare !== undefined || end - next > BLOCK / 2) return;
    isReserving = true;
    record
      .reserveRowIds(BLOCK)
      .then((first) => {
        spare = first;
      })
      .catch(() => {})
      .finally(() => {
        isReserving = false;
      });
  }
  function nextId(): number {
    reserve();
    if (next === end) {
      if (spare === undefined) throw new RetinueError("store", "the record gives no more ids for rows");
      next = spare;
      end = next + BLOCK;
      spare = undefined;
    }
    return next++;
  }
  return {
    open(row, onCommit) {
      const id = nextId();
      record.append({ kind: "row.open", id, row, onCommit });
      return id;
    },
    close: (id, sessionId, row, onCommit) =>
      record.append({ kind: "row.close", id, sessionId, row, onCommit }),
    committed: () => record.committed(),
  };
}

/** Keeps a text once, however often it is saved, under its hash, which comes back. */
export function recordText(record: Pick<Record, "append">, text: string): string {
  const id = createHash("sha256").update(encodeText(text)).digest("base64url");
  record.append({ kind: "text.save", id, text });
  return id;
}

/** Ids of the texts that a row names: its system prompt, the definition it ran with, a condensed history. */
export function listTextIds(
  systemPromptId: string | null,
  metadata: Readonly<{ [name: string]: unknown }>,
): string[] {
  const ids = [systemPromptId, metadata.snapshot, metadata.history];
  return ids.filter((id) => typeof id === "string");
}
