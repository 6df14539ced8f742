import { readJsonObject } from "../schema/json-object.ts";
import type { MessageNode, MessageRow } from "../schema/record.ts";
import type { Record } from "./record.ts";
import { listTextIds } from "./record-journal.ts";

/** Whether a row is a run, and not a model or tool call of one. */
export function isRunRow({ request_type: type }: MessageRow): boolean {
  return type === "prompt" || type === "delegation";
}

/** The texts that rows name, by their ids. */
export async function readNamedTexts(
  record: Pick<Record, "readText">,
  rows: Iterable<MessageRow>,
): Promise<Map<string, string>> {
  const ids = Array.from(rows, ({ system_prompt_id: system, metadata_json: json }) =>
    // Another program may have stored what is no JSON; it names nothing then.
    listTextIds(system, readJsonObject(json)),
  );
  const texts = new Map<string, string>();
  for (const id of new Set(ids.flat())) {
    const text = await record.readText(id);
    if (text !== undefined) texts.set(id, text);
  }
  return texts;
}

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
