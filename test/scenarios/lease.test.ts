import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { expect, test } from "vitest";

const RECORD = JSON.stringify(
  new URL("../../packages/core/src/record/sqlite/create-sqlite-record.ts", import.meta.url).href,
);

/** Another process that takes the lease on a session and says so. */
const HOLDER = `
import { createSqliteRecord } from ${RECORD};
const record = createSqliteRecord({ path: process.argv[1] });
await record.takeLease("ses_1");
console.log("held");
setInterval(() => {}, 1000);
`;

/** Another process that stops where it has seen that the holder is dead, and takes the session when it is told to go on. */
const TAKER = `
import { readSync, writeSync } from "node:fs";
import { createSqliteRecord } from ${RECORD};
const record = createSqliteRecord({ path: process.argv[1] });
process.kill = () => {
  writeSync(1, "looked\\n");
  readSync(0, Buffer.alloc(1));
  throw Object.assign(new Error("no such process"), { code: "ESRCH" });
};
try {
  await record.takeLease("ses_1");
  console.log("took it");
} catch (thrown) {
  console.log(thrown.holder ? "found it taken" : String(thrown));
}
process.stdin.resume();
`;

/** A program in a process of its own, and what it says line by line. */
function startProgram(program: string, path: string) {
  const child = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", program, path],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const gone = new Promise((resolve) => child.once("close", resolve));
  return {
    child,
    nextLine: async () => (await lines.next()).value as string | undefined,
    end: () => {
      child.kill("SIGKILL");
      return gone;
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

test("a session that a living process has cannot be taken, whatever the clocks say and even if it stands still; that of a dead one can, at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  using program = startProgram(HOLDER, path);
  const holder = program.child;
  expect(await program.nextLine()).toBe("held");
  const record = createSqliteRecord({ path });
  await expect(record.takeLease("ses_1")).rejects.toThrow(`process ${holder.pid}`);
  for (const hours of [-48, -1, 1, 48]) {
    const jumped = createSqliteRecord({ path, now: () => Date.now() + hours * 3_600_000 });
    await expect(jumped.takeLease("ses_1")).rejects.toThrow(`process ${holder.pid}`);
    expect(await jumped.findHolder("ses_1"), `${hours} h`).toContain(String(holder.pid));
    await jumped.close();
  }
  holder.kill("SIGSTOP");
  const later = createSqliteRecord({ path, now: () => Date.now() + 3_600_000, monotonicMs: () => 3_600_000 });
  await expect(later.takeLease("ses_1")).rejects.toThrow(`process ${holder.pid}`);
  await later.close();
  holder.kill("SIGCONT");
  await record.takeLease("ses_2");
  await program.end();
  const release = await record.takeLease("ses_1");
  release();
  await record.close();
  rmSync(folder, { recursive: true });
});

test("a holder on another machine keeps its session as long as its heartbeat changes, by the time that passes here", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  const time = { wallMs: Date.UTC(2030, 0, 1), monotonicMs: 0 };
  const record = createSqliteRecord({ path, now: () => time.wallMs, monotonicMs: () => time.monotonicMs });
  using db = new DatabaseSync(path);
  const beat = db.prepare(
    "INSERT OR REPLACE INTO leases (session_id, owner, until_ms) VALUES ('ses_1', ?, ?)",
  );
  let beats = 0;
  const beatElsewhere = () => beat.run("elsewhere/7/1/abc", ++beats);
  beatElsewhere();
  for (const jumpMs of [0, 3_600_000 * 5, -3_600_000 * 9, 86_400_000 * 30]) {
    time.wallMs += jumpMs;
    time.monotonicMs += 14_000;
    expect(await record.findHolder("ses_1")).toBe("process 7 on elsewhere");
    await expect(record.takeLease("ses_1")).rejects.toThrow("process 7 on elsewhere");
    beatElsewhere();
  }
  expect(await record.findHolder("ses_1")).toBe("process 7 on elsewhere");
  time.monotonicMs += 14_999;
  expect(await record.findHolder("ses_1")).toBe("process 7 on elsewhere");
  time.monotonicMs += 2;
  expect(await record.findHolder("ses_1")).toBeNull();
  (await record.takeLease("ses_1"))();
  await record.close();
  rmSync(folder, { recursive: true });
});

test("of two processes that see at once that a session's holder is dead, exactly one takes it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  using holder = startProgram(HOLDER, path);
  expect(await holder.nextLine()).toBe("held");
  await holder.end();
  using first = startProgram(TAKER, path);
  using second = startProgram(TAKER, path);
  const takers = [first, second];
  for (const taker of takers) expect(await taker.nextLine()).toBe("looked");
  const outcomes: (string | undefined)[] = [];
  for (const { child, nextLine } of takers) {
    child.stdin.write("x");
    outcomes.push(await nextLine());
  }
  expect(outcomes).toEqual(["took it", "found it taken"]);
  using db = new DatabaseSync(path);
  expect(db.prepare("SELECT owner FROM leases").all()).toEqual([
    { owner: expect.stringContaining(`/${first.child.pid}/`) },
  ]);
  await Promise.all(takers.map((taker) => taker.end()));
  rmSync(folder, { recursive: true });
});

test("a holder elsewhere whose heartbeat comes while its session is being taken keeps it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  using db = await createAndOpen(path);
  const beat = db.prepare(
    "INSERT OR REPLACE INTO leases (session_id, owner, until_ms) VALUES ('ses_1', 'elsewhere/7/1/abc', ?)",
  );
  beat.run(1);
  let nowMs = 0;
  let whenLooked = () => {};
  const monotonicMs = () => {
    whenLooked();
    return nowMs;
  };
  const record = createSqliteRecord({ path, monotonicMs });
  expect(await record.findHolder("ses_1")).toBe("process 7 on elsewhere");
  nowMs = 15_001;
  whenLooked = () => beat.run(2);
  await expect(record.takeLease("ses_1")).rejects.toThrow("is being worked on by");
  whenLooked = () => {};
  expect(await record.findHolder("ses_1")).toBe("process 7 on elsewhere");
  nowMs += 15_001;
  (await record.takeLease("ses_1"))();
  await record.close();
  rmSync(folder, { recursive: true });
});

test("a process that got the id of a dead holder does not hold its session", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  using holder = startProgram(HOLDER, path);
  expect(await holder.nextLine()).toBe("held");
  const record = createSqliteRecord({ path });
  expect(await record.findHolder("ses_1")).toBe(`process ${holder.child.pid} on ${hostname()}`);
  using db = new DatabaseSync(path);
  db.prepare("UPDATE leases SET owner = ?").run(`${hostname()}/${holder.child.pid}/1/abc`);
  expect(await record.findHolder("ses_1")).toBeNull();
  (await record.takeLease("ses_1"))();
  db.prepare("INSERT INTO leases (session_id, owner, until_ms) VALUES ('ses_2', ?, 0)").run(
    `${hostname()}/${process.pid}/1/abc`,
  );
  expect(await record.findHolder("ses_2")).toBeNull();
  (await record.takeLease("ses_2"))();
  await record.close();
  await holder.end();
  rmSync(folder, { recursive: true });
});

/** A connection to a record that was made just now. */
async function createAndOpen(path: string): Promise<DatabaseSync> {
  await createSqliteRecord({ path }).close();
  return new DatabaseSync(path);
}
