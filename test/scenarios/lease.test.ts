import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("a session that a living process has cannot be taken; that of a dead one can, at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-lease-"));
  const path = join(folder, "retinue.db");
  const holder = spawn(process.execPath, ["--input-type=module", "--eval", HOLDER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  const store = createStore({ path });
  expect(() => store.takeLease("ses_1")).toThrow(`process ${holder.pid}`);
  store.takeLease("ses_2");
  const gone = new Promise((resolve) => holder.once("close", resolve));
  holder.kill("SIGKILL");
  await gone;
  const release = store.takeLease("ses_1");
  release();
  await store.shutdown();
  rmSync(folder, { recursive: true });
});
