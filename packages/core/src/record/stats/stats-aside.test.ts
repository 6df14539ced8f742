import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStore } from "../create-store.ts";
import { createStatsAside } from "./stats-aside.ts";

test("figures read aside are those read on the spot, and the loop goes on meanwhile", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-aside-"));
  const path = join(folder, "retinue.db");
  const store = createStore({ path });
  store.startSession({ sessionId: "ses_1", title: "", project: "/p", workspace: "" });
  for (let index = 0; index < 50; index++) {
    const about = {
      parentId: null,
      type: "prompt",
      agentRole: "main",
      depth: 0,
      startedAtMs: index,
    } as const;
    const id = store.open({ ...about, sessionId: "ses_1", runId: `run_${index}` });
    store.close(id, "ses_1", { status: "completed", completedAtMs: index, durationMs: index });
  }
  await store.committed();
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
  expect(read).toEqual({ ...store.stats({ project: "/p" }), days: store.statsByDay({ project: "/p" }) });
  expect(read.total.runs).toBe(50);
  const gone = createStatsAside(join(folder, "none", "x.db"));
  await expect(gone.read({})).rejects.toThrow("cannot read the figures");
  await Promise.all([aside.close(), gone.close(), store.shutdown()]);
  rmSync(folder, { recursive: true });
});
