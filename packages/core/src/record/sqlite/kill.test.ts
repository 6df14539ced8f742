import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteRecord } from "./create-sqlite-record.ts";

const KILLS = process.env.RETINUE_DEEP === "1" ? 200 : 3;
const SEED = 20_260_101;

/** Appends for ever, and prints each seq only after it was acknowledged. */
const CHILD = `
import { writeSync } from "node:fs";
import { createSqliteRecord } from ${JSON.stringify(new URL("./create-sqlite-record.ts", import.meta.url).href)};
import { createRecordJournal } from ${JSON.stringify(new URL("../record-journal.ts", import.meta.url).href)};
const record = createSqliteRecord({ path: process.argv[1] });
const sessionId = process.argv[2];
if (!(await record.readSession(sessionId)))
  await record.startSession({ sessionId, title: "", project: "", workspace: "" });
const journal = await createRecordJournal(record);
const acknowledge = (seq) => writeSync(1, seq + "\\n");
for (;;) {
  let parentId = null;
  for (let index = 0; index < 7; index++) {
    const id = journal.open({ sessionId, parentId, runId: "run", type: "prompt", agentRole: "main", depth: 0, startedAtMs: 0,
      requestContent: "x".repeat(3000) }, acknowledge);
    if (index % 2) journal.close(id, sessionId, { status: "completed", completedAtMs: 1, durationMs: 1 }, acknowledge);
    parentId = id;
  }
  await journal.committed();
}
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-kill-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Kills the child once it has acknowledged `count` seqs, and returns all that it acknowledged. */
function killedAfter(path: string, count: number): Promise<number[]> {
  const child = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", CHILD, path, "ses_1"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.split("\n").length > count) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== null) reject(new Error(`the child ended by itself with ${code}`));
      else resolve(output.split("\n").slice(0, -1).map(Number));
    });
  });
}

test(`a process killed at any moment leaves an intact record with every acknowledged row (${KILLS} kills)`, async () => {
  const path = join(folder, "retinue.sqlite");
  let random = SEED;
  for (let kill = 0; kill < KILLS; kill++) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const acknowledged = await killedAfter(path, 1 + ((random >>> 8) % 60));
    const record = createSqliteRecord({ path, onNotice: (notice) => expect.fail(notice.message) });
    const recorded = new Set(
      (await record.readRows({ sessionId: "ses_1" })).flatMap((row) => [row.opened_seq, row.closed_seq]),
    );
    expect(acknowledged.filter((seq) => !recorded.has(seq))).toEqual([]);
    await record.close();
    using db = new DatabaseSync(path);
    expect(db.prepare("PRAGMA integrity_check").get()?.integrity_check).toBe("ok");
    expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  }
}, 3_600_000);
