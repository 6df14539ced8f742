import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createStore } from "../../src/store/create-store.ts";

const STORE = JSON.stringify(new URL("../../src/store/create-store.ts", import.meta.url).href);

/** Another process that takes the lease on a session and says so. */
const HOLDER = `
import { createStore } from ${STORE};
const store = createStore({ path: process.argv[1] });
store.takeLease("ses_1");
console.log("held");
setInterval(() => {}, 1000);
`;

test("a session that a living process has cannot be taken, whatever the clocks say and even if it stands still; that of a dead one can, at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  const holder = spawn(process.execPath, ["--input-type=module", "--eval", HOLDER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
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
  const gone = new Promise((resolve) => holder.once("close", resolve));
  holder.kill("SIGKILL");
  await gone;
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
