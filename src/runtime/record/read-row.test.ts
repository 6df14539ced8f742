import { expect, test } from "vitest";
import { say, testRuntime } from "../../testing/index.ts";
import { resultOfRow } from "./read-row.ts";

test("results of earlier versions have no deleted files, and null where they had zero tests", async () => {
  await using t = testRuntime({ solo: [say("done")] });
  const { session_id } = await t.runtime.run({ agent: "solo", task: "go" });
  const [row] = t.runtime.store.tree(session_id);
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
