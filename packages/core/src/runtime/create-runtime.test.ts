import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { after, callDelegate, callTool, say, testRuntime } from "../testing/index.ts";

const turnOver = async () => {
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
};

test("a run that is held holds everything below it, until it goes on", async () => {
  const answered = Promise.withResolvers<void>();
  const note = countedTool("note");
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), say("ok")],
      worker: [after(answered.promise, callTool("note", {})), say("done")],
    },
    { tools: [note.tool] },
  );
  const { runId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.worker?.requests.length !== 1) await new Promise((resolve) => setImmediate(resolve));
  expect([t.runtime.pause(runId), t.runtime.pause("run_unknown")]).toEqual([true, false]);
  answered.resolve();
  while (note.runs === 0) await new Promise((resolve) => setImmediate(resolve));
  await turnOver();
  expect(t.models.worker?.requests).toHaveLength(1);
  expect([t.runtime.unpause(runId), t.runtime.unpause("run_unknown")]).toEqual([true, false]);
  expect(await result).toMatchObject({ status: "completed" });
  const told = t.events.flatMap((event) => (event.type === "run.paused" ? [event.isPaused] : []));
  expect(told).toEqual([true, true, false, false]);
});

test("closing ends what runs, lets every tool go, and closes the record last", async () => {
  const order: string[] = [];
  const closable = { ...countedTool("closable").tool, close: async () => void order.push("tool") };
  const stuck = silence();
  const t = testRuntime({ lead: [stuck.step] }, { tools: [closable], lenient: true });
  const { result } = await t.runtime.start({ agent: "lead", task: "go" });
  void result.then(({ status }) => order.push(status));
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  await t.close();
  expect(order).toEqual(["cancelled", "tool"]);
  await expect(t.runtime.record.listSessions()).rejects.toThrow();
});

test("leaving closes as well, and what was open is open in the record", async () => {
  using lives = new Lives();
  const stuck = silence();
  const t = lives.open({ lead: [stuck.step] });
  await lives.abandon(t, () => stuck.reached);
  await t.runtime.leave();
  await expect(t.runtime.record.listSessions()).rejects.toThrow();
  await using later = lives.open({ lead: [] });
  const { sessions } = await later.runtime.record.listSessions();
  expect(sessions.map(({ status }) => status)).toEqual(["running"]);
});

test("what a person says to a run is kept without secrets, and one that is gone hears nothing", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  const answered = Promise.withResolvers<void>();
  const note = countedTool("note");
  await using t = testRuntime(
    { lead: [after(answered.promise, callTool("note", {})), say("done")] },
    { tools: [note.tool], env: { SERVICE_API_KEY: secret } },
  );
  const { runId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  expect(t.runtime.steer(runId, `use ${secret} as well`)).toBe(true);
  answered.resolve();
  await result;
  const told = JSON.stringify(t.models.lead?.requests[1]?.prompt);
  expect(told).toMatch(/use .* as well/);
  expect(told).not.toContain(secret);
  expect(t.runtime.steer(runId, "more")).toBe(false);
  expect(t.runtime.redact(`a ${secret}`)).not.toContain(secret);
});

test("the model that an agent would have is named, its own or the one that was asked for", async () => {
  await using t = testRuntime({ lead: [], other: [] });
  expect(await t.runtime.modelOf("lead")).toBe("scripted/lead");
  expect(await t.runtime.modelOf("lead", "other")).toBe("scripted/other");
  await expect(t.runtime.modelOf("nobody")).rejects.toThrow("nobody");
});

test("a task of one agent takes a number of calls, tools and limits, and nothing that there is not", async () => {
  const tools = ["note", "look"].map((name) => countedTool(name).tool);
  await using seen = openSeen({ lead: { eachRun: [say("done")] } }, { tools });
  await seen.runtime.spawn("lead", "go", { budget: 3, tools: ["note"], limits: { turns: 9 } });
  expect(seen.find("lead")).toMatchObject({ limits: { toolCalls: 3, turns: 9 } });
  expect(seen.find("lead").tools.has("look")).toBe(false);
  const wrong = { maxTurns: 3 } as { budget?: number };
  await expect(seen.runtime.spawn("lead", "go", wrong)).rejects.toThrow("maxTurns is no option of spawn");
  const atOnce = { concurrent: 3 } as { maxConcurrent?: number };
  await expect(seen.runtime.fanOut([["lead", "go"]], atOnce)).rejects.toThrow(
    "concurrent is no option of fanOut",
  );
  await expect(seen.runtime.drain(-1)).rejects.toThrow("graceMs");
});
