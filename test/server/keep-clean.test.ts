import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { hang, say } from "@retinue/core/testing";
import { keepClean } from "@retinue/server/keep-clean";
import { createLiveProject } from "@retinue/server/live-project";
import { openServer } from "@retinue/server/open-server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { writeSession } from "../fixtures/recorded-session.ts";
import { stepClock } from "./step-clock.ts";
import { clearGround, type Ground, makeGround, openDesk } from "./work-desk.ts";

const DAY_MS = 86_400_000;

let ground: Ground;
beforeEach(() => {
  ground = makeGround();
});
afterEach(() => clearGround(ground));

async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setImmediate(resolve));
}

/** Where the program looks for its settings and keeps its record. */
function loadFrom(settings: object) {
  const { root, projectDir, dataDir } = ground;
  const config = join(root, "config");
  mkdirSync(join(config, "retinue"), { recursive: true });
  writeFileSync(join(config, "retinue", "settings.json"), JSON.stringify(settings));
  return { projectDir, env: { HOME: root, XDG_CONFIG_HOME: config, RETINUE_HOME: dataDir } };
}

test("what ended longer ago than the settings keep it is removed on the day that it is too old, and nothing else", async () => {
  const from = loadFrom({ store: { retentionDays: 3 } });
  const server = await openDesk(ground, { lead: ({ task }) => (task === "wait" ? hang() : say("done")) });
  const { runtime } = server.t;
  const { record } = runtime;
  const clock = stepClock(Date.now());
  const ended = (await runtime.run({ agent: "lead", task: "go" })).session_id;
  const open = (await runtime.start({ agent: "lead", task: "wait" })).sessionId;
  await record.committed();
  const told: string[] = [];
  const faults: unknown[] = [];
  const project = createLiveProject(from, await loadProject(from));
  const ports = { tell: (text: string) => told.push(text), onFault: (it: unknown) => faults.push(it), clock };
  const stop = keepClean({ runtime, project }, ports);
  // A look is over when it has set the time of the next one.
  const look = () => until(() => clock.pending === 1);
  await look();
  for (let day = 1; day <= 3; day++) {
    clock.advance(DAY_MS);
    await look();
    expect([told, (await record.readSession(ended))?.status]).toEqual([[], "completed"]);
  }
  const busy = vi.spyOn(record, "listSessions").mockRejectedValueOnce(new Error("the database is locked"));
  clock.advance(DAY_MS);
  await look();
  expect([faults.map(String), told]).toEqual([["Error: the database is locked"], []]);
  busy.mockRestore();
  clock.advance(DAY_MS - 1);
  expect(await record.readSession(ended)).toBeDefined();
  clock.advance(1);
  await look();
  expect(told).toEqual(["removed 1 session that ended more than 3 days ago"]);
  expect([await record.readSession(ended), (await record.readSession(open))?.status]).toEqual([
    undefined,
    "running",
  ]);
  expect((await server.get("/api/sessions")).body.sessions).toMatchObject([{ session_id: open }]);
  stop();
  expect(clock.pending).toBe(0);
  await server.stop();
});

test("without a number of days nothing is looked for, and no time is set", async () => {
  const from = loadFrom({});
  const server = await openDesk(ground, { lead: [] });
  const { runtime } = server.t;
  const clock = stepClock();
  const looked = vi.spyOn(runtime.record, "listSessions");
  const project = createLiveProject(from, await loadProject(from));
  keepClean({ runtime, project }, { tell: () => {}, onFault: () => {}, clock })();
  expect([looked.mock.calls.length, clock.pending]).toEqual([0, 0]);
  await server.stop();
});

test("a server that starts removes what is too old, of every project, and says so", async () => {
  const from = loadFrom({ store: { retentionDays: 30 } });
  const then = Date.now() - 40 * DAY_MS;
  const record = createSqliteRecord({ path: ground.database, now: () => then });
  const write = (into: Record, sessionId: string, project: string) =>
    writeSession(into, {
      sessionId,
      title: "",
      project,
      runs: [{ agent: "main", task: "x", from: 0, to: 1 }],
    });
  await write(record, "ses_old", ground.projectDir);
  await write(record, "ses_other", "/elsewhere");
  await record.close();
  const now = createSqliteRecord({ path: ground.database });
  await write(now, "ses_young", ground.projectDir);
  await now.close();
  const told: string[] = [];
  const server = await openServer({
    ...from,
    port: 0,
    project: await loadProject(from),
    agent: "main",
    permissionMode: "default",
    approvalMinutes: 0,
    version: "0",
    checkHealth: async () => [],
    onNotice: (message) => told.push(message),
  });
  await until(() => told.some((text) => text.startsWith("removed")));
  expect(told).toContain("removed 2 sessions that ended more than 30 days ago");
  expect((await server.desk.runtime.record.listSessions()).sessions.map((row) => row.session_id)).toEqual([
    "ses_young",
  ]);
  await server.close();
});
