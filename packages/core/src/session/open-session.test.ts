import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silence } from "../../../../test/fixtures/lives.ts";
import { systemClock } from "../budget/clock.ts";
import { callDelegate, callDelegateMany, hang, say, testRuntime } from "../testing/index.ts";

test("no secret stands in a session's title, which is one line", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  await using t = testRuntime({ lead: [say("done")] }, { env: { SERVICE_API_KEY: secret } });
  const { session_id } = await t.runtime.run({
    agent: "lead",
    task: `Use\n${secret}\nhere. ${"x".repeat(200)}`,
  });
  const { title } = await t.runtime.record.findSession(session_id);
  expect(title).toMatch(/^Use .* here\. x+/);
  expect(title).not.toContain(secret);
  expect(title.length).toBeLessThanOrEqual(120);
});

test.each([
  [{ maxAgents: 2 }, 1],
  [{ maxAgents: 2, limits: { spawns: 9 } }, 1],
  [{ maxAgents: 9, limits: { spawns: 3 } }, 2],
])(
  "with the settings %j a session has so many runs and no more: its root and %i children",
  async (settings, children) => {
    const tasks = ["a", "b", "c"].map((id) => ({ id, agent: "worker", task: id }));
    await using t = testRuntime(
      { lead: [callDelegateMany(tasks), say("done")], worker: { eachRun: [say("done")] } },
      { settings },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    expect(t.models.worker?.requests).toHaveLength(children);
  },
);

test("a session that goes on days later still began when it began, and a read-only one stays read-only", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-open-session-"));
  const places = { projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") };
  const stuck = silence();
  const first = testRuntime(
    {
      lead: [callDelegate("one", "x"), stuck.step],
      one: [say("done")],
      two: [],
    },
    { ...places, lenient: true, permissionMode: "plan" },
  );
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  await first.runtime.leave();
  const clock = { ...systemClock, wallMs: () => Date.now() + 3 * 86_400_000 };
  const second = testRuntime(
    { lead: [callDelegate("two", "x"), say("done")], one: [], two: [say("done")] },
    { ...places, lenient: true, internals: { clock } },
  );
  await (await second.runtime.resume(sessionId)).result;
  const dayIn = (t: typeof first, agent: string) =>
    /Date: ([^(]+)/.exec(JSON.stringify(t.models[agent]?.requests[0]?.prompt))?.[1];
  expect(dayIn(second, "two")).toBe(dayIn(first, "one"));
  expect(
    JSON.parse((await second.runtime.record.findSession(sessionId)).metadata_json ?? "{}"),
  ).toMatchObject({
    readOnly: true,
  });
  await second.close();
  rmSync(root, { recursive: true, force: true });
});

test("several tasks at once that are cancelled leave a cancelled session, not a failed one", async () => {
  await using t = testRuntime({ one: [hang()], two: [hang()] }, { lenient: true });
  const results = t.runtime.fanOut([
    ["one", "x"],
    ["two", "y"],
  ]);
  while (t.models.one?.requests.length !== 1 || t.models.two?.requests.length !== 1)
    await new Promise((resolve) => setImmediate(resolve));
  const sessionId = t.events[0]?.sessionId ?? "";
  t.runtime.cancel(sessionId);
  expect((await results).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  await t.runtime.record.committed();
  expect((await t.runtime.record.findSession(sessionId)).status).toBe("cancelled");
});
