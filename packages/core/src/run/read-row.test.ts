import { expect, test } from "vitest";
import { writeSession } from "../../../../test/fixtures/recorded-session.ts";
import { readTree } from "../record/read-tree.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { say, testRuntime } from "../testing/index.ts";
import { claimsIn, resultOfRow } from "./read-row.ts";

test("results of earlier versions have no deleted files, and null where they had zero tests", async () => {
  await using t = testRuntime({ solo: [say("done")] });
  const { session_id } = await t.runtime.run({ agent: "solo", task: "go" });
  const [row] = await readTree(t.runtime.record, session_id);
  const metadata = JSON.parse(row?.metadata_json ?? "{}");
  const read = (change: object) => {
    const { files_deleted: _, ...result } = { ...metadata.result, ...change };
    if (!row) throw new Error("there is no row");
    return resultOfRow({ ...row, metadata_json: JSON.stringify({ ...metadata, result }) });
  };
  const { files_deleted: _, ...before } = { ...metadata.result.subtree, tests_run: 0, tests_passed: 0 };
  const nothing = { files_deleted: [], tests: [], tests_run: null, tests_passed: null };
  expect(read({ tests_run: 0, tests_passed: 0, subtree: before })).toMatchObject({
    ...nothing,
    subtree: nothing,
  });
  expect(read({ tests_run: 0, tests_passed: 0, tests: undefined, subtree: undefined })).toMatchObject({
    ...nothing,
    subtree: nothing,
  });
  const counted = { tests_run: 3, tests_passed: 2 };
  expect(read({ ...counted, tests: undefined, subtree: undefined })).toMatchObject({
    ...counted,
    subtree: counted,
  });
});

test("of several runs that changed a file the last one has it, wherever it stands in the tree", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  const changing = (agent: string, to: number, kind: string) => ({
    ...{ agent, task: "x", from: 10, to },
    metadata: { files: [["a.txt", kind]] },
  });
  const runs = [changing("maker", 500, "created"), changing("editor", 900, "modified")];
  for (const [sessionId, children] of [
    ["ses_1", runs],
    ["ses_2", runs.toReversed()],
  ] as const) {
    await writeSession(record, {
      sessionId,
      title: "x",
      runs: [{ agent: "lead", task: "x", from: 0, to: 1_000, runs: children }],
    });
    const roots = await readTree(record, sessionId);
    const all = await record.readRows({ sessionId });
    const claim = claimsIn(roots).get("a.txt");
    const agents = claim?.line.map((runId) => all.find((row) => row.run_id === runId)?.agent_role);
    expect(agents).toEqual(["lead", "editor"]);
    expect(claim?.changes.map(({ kind }) => kind)).toEqual(["created", "modified"]);
  }
  await record.close();
});
