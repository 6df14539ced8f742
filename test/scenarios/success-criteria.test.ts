import { replaySession } from "@retinue/core/replay/replay-session";
import {
  callDelegate,
  failWith,
  type Script,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { Lives, silence } from "../fixtures/lives.ts";

const CRITERIA = "all tests pass";
const ask = callDelegate("worker", "do it", { successCriteria: CRITERIA });
const verdict = (met: boolean | null, reason: string) => say(JSON.stringify({ met, reason }));
const told = (t: TestRuntime) => {
  const answer = JSON.stringify(t.models.lead?.requests[1]?.prompt.at(-1));
  return JSON.parse(answer).content[0].output.value as string;
};
const resultsOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []));

/** A shell that ends as the command says. */
const shell = defineTool<{ command: string }>({
  name: "shell",
  description: "x",
  input: { type: "object" },
  execute: async ({ command }) => ({ text: command, isError: command === "false" }),
});

test("criteria that nobody judges are reported as not verified, never as met", async () => {
  await using t = testRuntime({ lead: [ask, say("done")], worker: [say("All tests pass, I am sure.")] });
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ success: true });
  const [result] = resultsOf(t, "worker");
  expect(result).toMatchObject({
    success: true,
    criteria: { criteria: CRITERIA, verdict: "not_verified", by: null },
    warnings: [expect.stringContaining("Success criteria not verified: nobody judged them")],
  });
  expect(told(t)).toContain(
    "\nsuccess criteria: not verified: nobody judged them; check them yourself, or delegate that to an agent that can run or see the result\n",
  );
});

test.each([
  ["true", "met", "completed"],
  ["false", "not_met", "failed"],
] as const)(
  "the command `%s` of the contract says that criteria are %s",
  async (command, expected, status) => {
    await using t = testRuntime(
      { lead: [ask, say("done")], worker: [say("done"), ...(command === "false" ? [say("really")] : [])] },
      { tools: [shell], agents: { worker: { deliverables: [{ command }] } } },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    expect(resultsOf(t, "worker")).toMatchObject([
      { status, criteria: { verdict: expected, by: "commands" } },
    ]);
  },
);

const reviewed = (reviewer: Script) =>
  testRuntime(
    { lead: [ask, say("done")], worker: [say("It is done.")], reviewer },
    { agents: { worker: { verify: "reviewer" } } },
  );

test.each([
  [true, "met", "completed"],
  [false, "not_met", "failed"],
  [null, "not_verified", "completed"],
] as const)(
  "with verify: reviewer a verdict of %s means that criteria are %s",
  async (met, expected, status) => {
    await using t = reviewed([verdict(met, "I ran them")]);
    const root = await t.runtime.run({ agent: "lead", task: "go" });
    const [result] = resultsOf(t, "worker");
    const [reviewer] = resultsOf(t, "reviewer");
    expect(result).toMatchObject({
      status,
      success: met !== false,
      criteria: { verdict: expected, by: "reviewer", reason: "I ran them", run_id: reviewer?.run_id },
      subtree: { runs: 2 },
    });
    expect(t.trace()).toEqual([
      "lead > worker > reviewer: completed",
      `lead > worker: ${status}`,
      "lead: completed",
    ]);
    const asked = JSON.stringify(t.models.reviewer?.requests[0]?.prompt[1]);
    for (const words of ["do it", CRITERIA, "It is done."]) expect(asked).toContain(words);
    expect(told(t)).toContain(
      `\nsuccess criteria: ${expected.replaceAll("_", " ")} by reviewer: I ran them\n`,
    );
    const { agents, record } = t.runtime;
    expect(await replaySession({ agents, env: {} }, record, root.session_id)).toMatchObject({
      identical: true,
    });
  },
);

test("a reviewer that fails, gives no verdict or may not run leaves criteria not verified", async () => {
  await using broken = reviewed([failWith("auth", "no key")]);
  await broken.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(broken, "worker")).toMatchObject([
    { success: true, criteria: { verdict: "not_verified", reason: expect.stringContaining("no key") } },
  ]);
  await using babble = reviewed([say("Looks good to me."), say("Looks good.")]);
  expect(await babble.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ success: true });
  expect(resultsOf(babble, "worker")).toMatchObject([
    { success: true, criteria: { verdict: "not_verified" } },
  ]);
  await using shallow = testRuntime(
    { lead: [ask, say("done")], worker: [say("done")], reviewer: [] },
    { agents: { worker: { verify: "reviewer" } }, settings: { maxDepth: 1 } },
  );
  await shallow.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(shallow, "worker")).toMatchObject([
    { success: true, criteria: { verdict: "not_verified", reason: expect.stringContaining("depth") } },
  ]);
});

test("of several commands one that fails is enough for criteria that are not met, and it is named", async () => {
  await using t = testRuntime(
    { lead: [ask, say("done")], worker: [say("done"), say("really")] },
    { tools: [shell], agents: { worker: { deliverables: [{ command: "true" }, { command: "false" }] } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(t, "worker")).toMatchObject([
    { status: "failed", criteria: { verdict: "not_met", reason: expect.stringContaining("$ false") } },
  ]);
});

test("a reviewer that had given its verdict before a crash is not asked again", async () => {
  using lives = new Lives();
  const stuck = silence();
  const options = { agents: { worker: { verify: "reviewer" as const } } };
  const first = lives.open(
    { lead: [ask, stuck.step], worker: [say("It is done.")], reviewer: [verdict(true, "I ran them")] },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  // The process ended after the reviewer's row, before the worker's.
  const reopened = "closed_seq = NULL, completed_at = NULL, status = 'running'";
  lives.sql(`UPDATE messages SET ${reopened} WHERE agent_role = 'worker' AND request_type = 'delegation'`);
  lives.sql(
    "DELETE FROM messages WHERE agent_role = 'lead' AND request_type = 'continuation' AND closed_seq IS NULL",
  );
  await using second = lives.open({ lead: [say("done")], worker: [], reviewer: [] }, options);
  await (await second.runtime.resume(sessionId)).result;
  expect(resultsOf(second, "worker")).toMatchObject([{ criteria: { verdict: "met", by: "reviewer" } }]);
  expect(second.models.reviewer?.requests).toEqual([]);
});
