import { createHash } from "node:crypto";
import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";
import type { Record } from "./record.ts";
import { encodeText } from "./rows/lossless-text.ts";

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
  record: Pick<Record, "reserveRowIds" | "write" | "committed">,
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
      record.write({ kind: "row.open", id, row, onCommit }).catch(() => {});
      return id;
    },
    close(id, sessionId, row, onCommit) {
      record.write({ kind: "row.close", id, sessionId, row, onCommit }).catch(() => {});
    },
    committed: () => record.committed(),
  };
}

/** Keeps a text once, however often it is saved, under its hash, which comes back. */
export function recordText(record: Pick<Record, "write">, text: string): string {
  const id = createHash("sha256").update(encodeText(text)).digest("base64url");
  record.write({ kind: "text.save", id, text }).catch(() => {});
  return id;
}
