import { expect, test } from "vitest";
import type { MessageNode, MessageRow } from "../schema/record.ts";
import { beginSession, openRow } from "./contract/contract-stage.ts";
import { buildTree, readTree } from "./read-tree.ts";
import { createSqliteRecord } from "./sqlite/create-sqlite-record.ts";

async function readRows(parents: readonly (number | null)[]): Promise<MessageRow[]> {
  const record = createSqliteRecord({ path: ":memory:" });
  await beginSession(record);
  const row = await record.readRow(await openRow(record));
  await record.close();
  if (!row) throw new Error("the row was not written");
  return parents.map((parent, index) => ({ ...row, id: index + 1, parent_message_id: parent }));
}

test("the tree holds every row once, below its parent, however deep", async () => {
  const parents = Array.from({ length: 10_000 }, (_, index) => index || null);
  const [root, second, ...others] = buildTree(await readRows([...parents, null]));
  expect([others, second?.id, second?.children]).toEqual([[], 10_001, []]);
  let depth = 0;
  for (let node: MessageNode | undefined = root; node; node = node.children[0]) depth++;
  expect(depth).toBe(10_000);
});

test("a damaged parent link makes a root, never a lost row or a cycle", async () => {
  expect(buildTree(await readRows([2, 1]))).toMatchObject([{ id: 1, children: [{ id: 2, children: [] }] }]);
  expect(buildTree(await readRows([77, 2]))).toMatchObject([
    { id: 1, children: [] },
    { id: 2, children: [] },
  ]);
});

test("a session's tree is read from the record", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  await beginSession(record);
  const root = await openRow(record);
  const child = await openRow(record, { parentId: root });
  expect(await readTree(record, "ses_1")).toMatchObject([{ id: root, children: [{ id: child }] }]);
  await record.close();
});
