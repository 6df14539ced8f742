import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRecordJournal } from "../record-journal.ts";
import { createSqliteRecord } from "./create-sqlite-record.ts";
import { createStatsAside } from "./stats-aside.ts";

test("figures read aside are those read on the spot, and the loop continues meanwhile", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-aside-"));
  const path = join(folder, "retinue.db");
  const record = createSqliteRecord({ path });
  await record.startSession({ sessionId: "ses_1", title: "", project: "/p", workspace: "" });
  const journal = await createRecordJournal(record);
  for (let index = 0; index < 50; index++) {
    const about = {
      parentId: null,
      type: "prompt",
      agentRole: "main",
      depth: 0,
      startedAtMs: index,
    } as const;
    const id = journal.open({ ...about, sessionId: "ses_1", runId: `run_${index}` });
    journal.close(id, "ses_1", { status: "completed", completedAtMs: index, durationMs: index });
  }
  await record.committed();
  const aside = createStatsAside(path);
  let turns = 0;
  const count = () => {
    turns++;
    if (isReading) setImmediate(count);
  };
  let isReading = true;
  const reading = aside.read({ project: "/p" });
  expect(aside.read({ project: "/p" })).toBe(reading);
  setImmediate(count);
  const read = await reading;
  isReading = false;
  expect(turns).toBeGreaterThan(0);
  expect(read).toEqual(await record.readStats({ project: "/p" }));
  expect(read.total.runs).toBe(50);
  const gone = createStatsAside(join(folder, "none", "x.db"));
  await expect(gone.read({})).rejects.toThrow("cannot read the figures");
  await Promise.all([aside.close(), gone.close(), record.close()]);
  rmSync(folder, { recursive: true });
});
