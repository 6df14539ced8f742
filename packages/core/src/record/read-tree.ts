import type { MessageNode, MessageRow } from "../schema/record.ts";
import type { Record } from "./record.ts";

/** The root rows of a session with everything below them. */
export async function readTree(record: Pick<Record, "readRows">, sessionId: string): Promise<MessageNode[]> {
  return buildTree(await record.readRows({ sessionId }));
}

/**
 * Hangs each row below its parent. Rows come in the order they opened, and a parent opens before its children; a row
 * whose parent is not among the earlier rows is a root, so that no damage in the data can hide a row or make a cycle.
 */
export function buildTree(rows: Iterable<MessageRow>): MessageNode[] {
  const nodes = new Map<number, MessageNode>();
  const roots: MessageNode[] = [];
  for (const row of rows) {
    const node = Object.assign(row, { children: [] });
    const parent = row.parent_message_id === null ? undefined : nodes.get(row.parent_message_id);
    (parent?.children ?? roots).push(node);
    nodes.set(row.id, node);
  }
  return roots;
}
