import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { createStore } from "@retinue/core/record/create-store";
import { expect, test } from "vitest";

const STORE = JSON.stringify(new URL("../../packages/core/src/record/create-store.ts", import.meta.url).href);

/** Another process that takes the lease on a session and says so. */
const HOLDER = `
import { createStore } from ${STORE};
const store = createStore({ path: process.argv[1] });
store.takeLease("ses_1");
console.log("held");
setInterval(() => {}, 1000);
`;

/** Another process that stops where it has seen that the holder is dead, and takes the session when it is told to go on. */
const TAKER = `
import { readSync, writeSync } from "node:fs";
import { createStore } from ${STORE};
const store = createStore({ path: process.argv[1] });
process.kill = () => {
  writeSync(1, "looked\\n");
  readSync(0, Buffer.alloc(1));
  throw Object.assign(new Error("no such process"), { code: "ESRCH" });
};
try {
  store.takeLease("ses_1");
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
  const store = createStore({ path });
  expect(() => store.takeLease("ses_1")).toThrow(`process ${holder.pid}`);
  for (const hours of [-48, -1, 1, 48]) {
    const jumped = createStore({ path, now: () => Date.now() + hours * 3_600_000 });
    expect(() => jumped.takeLease("ses_1"), `${hours} h`).toThrow(`process ${holder.pid}`);
    expect(jumped.holderOf("ses_1"), `${hours} h`).toContain(String(holder.pid));
    await jumped.shutdown();
  }
  holder.kill("SIGSTOP");
  const later = createStore({ path, now: () => Date.now() + 3_600_000, monotonicMs: () => 3_600_000 });
  expect(() => later.takeLease("ses_1")).toThrow(`process ${holder.pid}`);
  await later.shutdown();
  holder.kill("SIGCONT");
  store.takeLease("ses_2");
  await program.end();
  const release = store.takeLease("ses_1");
  release();
  await store.shutdown();
  rmSync(folder, { recursive: true });
});

test("a holder on another machine keeps its session as long as its heartbeat changes, by the time that passes here", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  const time = { wallMs: Date.UTC(2030, 0, 1), monotonicMs: 0 };
  const store = createStore({ path, now: () => time.wallMs, monotonicMs: () => time.monotonicMs });
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
    expect(store.holderOf("ses_1")).toBe("process 7 on elsewhere");
    expect(() => store.takeLease("ses_1")).toThrow("process 7 on elsewhere");
    beatElsewhere();
  }
  expect(store.holderOf("ses_1")).toBe("process 7 on elsewhere");
  time.monotonicMs += 14_999;
  expect(store.holderOf("ses_1")).toBe("process 7 on elsewhere");
  time.monotonicMs += 2;
  expect(store.holderOf("ses_1")).toBeNull();
  store.takeLease("ses_1")();
  await store.shutdown();
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
  using db = createStoreAndOpen(path);
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
  const store = createStore({ path, monotonicMs });
  expect(store.holderOf("ses_1")).toBe("process 7 on elsewhere");
  nowMs = 15_001;
  whenLooked = () => beat.run(2);
  expect(() => store.takeLease("ses_1")).toThrow("is being worked on by");
  whenLooked = () => {};
  expect(store.holderOf("ses_1")).toBe("process 7 on elsewhere");
  nowMs += 15_001;
  store.takeLease("ses_1")();
  await store.shutdown();
  rmSync(folder, { recursive: true });
});

test("a process that got the id of a dead holder does not hold its session", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  using holder = startProgram(HOLDER, path);
  expect(await holder.nextLine()).toBe("held");
  const store = createStore({ path });
  expect(store.holderOf("ses_1")).toBe(`process ${holder.child.pid} on ${hostname()}`);
  using db = new DatabaseSync(path);
  db.prepare("UPDATE leases SET owner = ?").run(`${hostname()}/${holder.child.pid}/1/abc`);
  expect(store.holderOf("ses_1")).toBeNull();
  store.takeLease("ses_1")();
  db.prepare("INSERT INTO leases (session_id, owner, until_ms) VALUES ('ses_2', ?, 0)").run(
    `${hostname()}/${process.pid}/1/abc`,
  );
  expect(store.holderOf("ses_2")).toBeNull();
  store.takeLease("ses_2")();
  await store.shutdown();
  await holder.end();
  rmSync(folder, { recursive: true });
});

/** A connection to a record that was made just now. */
function createStoreAndOpen(path: string): DatabaseSync {
  void createStore({ path }).shutdown();
  return new DatabaseSync(path);
}
