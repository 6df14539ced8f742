import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seeded } from "./attack.ts";

const KILLS = process.env.RETINUE_DEEP === "1" ? 200 : 3;
const SEED = 7;
const source = (path: string) => JSON.stringify(new URL(`../../packages/${path}`, import.meta.url).href);

/** Delegates for ever. Prints each event that is said to be on disk, and notes each effect in a file of its own. */
const CHILD = `
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { callDelegateMany, callTool, say, testRuntime } from ${source("core/src/testing/index.ts")};
import { defineTool } from ${source("core/src/tools/tool.ts")};
const [, folder] = process.argv;
const pay = defineTool({ name: "pay", description: "x", input: { type: "object" }, replay: "never",
  execute: async (_, { runId, callId }) => (appendFileSync(join(folder, "effects"), runId + " " + callId + "\\n"), "paid") });
const tasks = Array.from({ length: 5 }, (_, index) => ({ id: "t" + index, agent: "worker", task: "x" }));
const { runtime } = testRuntime({
  lead: { eachRun: [callDelegateMany(tasks), callDelegateMany(tasks), say("done")] },
  worker: { eachRun: [callTool("pay", {}), callTool("pay", {}), say("ok")] },
}, { tools: [pay], database: join(folder, "retinue.db"), dataDir: folder, projectDir: folder });
runtime.events((event) => { if (event.seq !== undefined) writeSync(1, event.sessionId + " " + event.seq + "\\n"); });
for (;;) await runtime.run({ agent: "lead", task: "go" });
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-attack-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the child until it has acknowledged `count` events, kills it, and returns all that it acknowledged. */
function killedAfter(count: number): Promise<string[]> {
  const child = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", CHILD, folder],
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
      if (code === null) resolve(output.split("\n").slice(0, -1));
      else reject(new Error(`the child ended by itself with ${code}`));
    });
  });
}

test(`R3: a runtime killed at any moment leaves every event it told of, and the intent of every effect (${KILLS} kills)`, async () => {
  const random = seeded(SEED);
  const path = join(folder, "retinue.db");
  const effects = join(folder, "effects");
  for (let kill = 0; kill < KILLS; kill++) {
    writeFileSync(effects, "");
    const acknowledged = await killedAfter(1 + Math.floor(random() * 150));
    const record = createSqliteRecord({ path, onNotice: (notice) => expect.fail(notice.message) });
    const { sessions } = await record.listSessions({ limit: 1_000 });
    const rows = (
      await Promise.all(sessions.map(({ session_id: sessionId }) => record.readRows({ sessionId })))
    ).flat();
    await record.close();
    const recorded = new Set(
      rows.flatMap((row) => [`${row.session_id} ${row.opened_seq}`, `${row.session_id} ${row.closed_seq}`]),
    );
    expect(acknowledged.filter((seq) => !recorded.has(seq))).toEqual([]);
    const intents = new Set(rows.map((row) => `${row.run_id} ${row.call_id}`));
    const done = readFileSync(effects, "utf8").split("\n").slice(0, -1);
    expect(done.filter((effect) => !intents.has(effect))).toEqual([]);
    using db = new DatabaseSync(path);
    expect(db.prepare("PRAGMA integrity_check").get()?.integrity_check).toBe("ok");
    expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  }
}, 3_600_000);
