import { afterEach, beforeEach, expect, test } from "vitest";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { hadProjectText } from "./recall-session.ts";

let record: Record;
beforeEach(() => {
  record = createSqliteRecord({ path: ":memory:" });
});
afterEach(() => record.close());

const start = (sessionId: string, metadata: { readonly [name: string]: unknown }) =>
  record.startSession({ sessionId, title: "t", project: "/p", workspace: "/w", metadata });

test("whether text of the project had entered a session is what its row says; of one that was removed nobody knows, so it had", async () => {
  await start("ses_with", { projectText: true });
  await start("ses_without", { projectText: false });
  const known = await Promise.all(
    ["ses_with", "ses_without", "ses_removed"].map((id) => hadProjectText(record, id)),
  );
  expect(known).toEqual([true, false, true]);
});

test("of a session from before that was kept it is taken from what its runs held", async () => {
  await start("ses_old", {});
  expect(await hadProjectText(record, "ses_old")).toBe(false);
  await record.write({
    kind: "row.open",
    id: await record.reserveRowIds(1),
    row: {
      sessionId: "ses_old",
      parentId: null,
      runId: "run_1",
      type: "prompt",
      agentRole: "lead",
      depth: 0,
      startedAtMs: 1,
      metadata: { privateData: true },
    },
  });
  expect(await hadProjectText(record, "ses_old")).toBe(true);
});
