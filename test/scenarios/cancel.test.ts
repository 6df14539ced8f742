import { after, callDelegateMany, hang, say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";

const many = (count: number) =>
  callDelegateMany(
    Array.from({ length: count }, (_, index) => ({ id: `t${index}`, agent: "worker", task: `${index}` })),
  );

test("cancelling a run with a hundred live children settles all of them and closes every row", async () => {
  const all = Promise.withResolvers<void>();
  let open = 0;
  await using t = testRuntime(
    {
      lead: [many(100)],
      worker: () => {
        if (++open === 100) all.resolve();
        return hang();
      },
    },
    {
      agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 100 } } },
      settings: { maxConcurrent: 200 },
    },
  );
  const { runId, sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  await all.promise;
  expect(t.runtime.cancel(runId)).toBe(true);
  expect(await result).toMatchObject({ status: "cancelled", success: false });
  const rows = await t.runtime.record.readRows({ sessionId: sessionId });
  expect(rows.filter((row) => row.request_type === "delegation" && row.status === "cancelled")).toHaveLength(
    100,
  );
  expect(rows.filter((row) => row.completed_at === null)).toEqual([]);
  expect(t.runtime.cancel(runId)).toBe(false);
});

test("cancelling one child leaves its siblings alone, and its parent is told", async () => {
  const release = Promise.withResolvers<void>();
  await using t = testRuntime({
    lead: [many(2), (request) => say(request.last)],
    worker: (request) => (request.task === "0" ? hang() : after(release.promise, say("fine"))),
  });
  t.runtime.events((event) => {
    if (event.type !== "run.started" || event.task !== "0") return;
    t.runtime.cancel(event.runId);
    release.resolve();
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("1 succeeded, 1 failed (t0)");
  expect(result.details).toContain('status="cancelled"');
});

test("closing the runtime ends what runs", async () => {
  const begun = Promise.withResolvers<void>();
  const t = testRuntime({
    solo: () => {
      begun.resolve();
      return hang();
    },
  });
  const { result } = await t.runtime.start({ agent: "solo", task: "go" });
  await begun.promise;
  const closed = t.close();
  expect((await result).status).toBe("cancelled");
  await closed;
});

test("a run that is about to begin when the runtime closes ends with it, at whatever moment that is", async () => {
  for (let turns = 0; turns < 40; turns += 2) {
    const t = testRuntime({ solo: () => hang() }, { lenient: true });
    const ending = t.runtime.run({ agent: "solo", task: "go" }).then(
      ({ status }) => status,
      (thrown: Error) => thrown.message,
    );
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await t.close();
    expect(await ending).toMatch(
      /^(cancelled|the runtime is closed|the session was stopped before this task began)$/,
    );
  }
});
