import { expect, test } from "vitest";
import { REPEATS_TO_STOP } from "../run/repetition.ts";
import { after, callDelegate, callTool, callTools, say, testRuntime } from "../testing/index.ts";

const streaming = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
const delegate = (agent: string, task: string) => ({ tool: "delegate", input: { agent, task } });

test("to collect again and again while others work is no going in circles", async () => {
  const names = Array.from({ length: REPEATS_TO_STOP + 2 }, (_, index) => `w${index}`);
  const gates = names.map(() => Promise.withResolvers<void>());
  let collected = 0;
  const collect = () => {
    gates[++collected]?.resolve();
    return callTool("collect_results", {});
  };
  gates[0]?.resolve();
  await using t = testRuntime(
    {
      lead: [
        callTools(names.map((name) => delegate("worker", name))),
        ...names.slice(1).map(() => collect),
        say("all"),
      ],
      worker: ({ task }) => {
        const gate = gates[names.indexOf(task)];
        return gate ? after(gate.promise, say(`did ${task}`)) : say("x");
      },
    },
    { agents: { lead: { subagents: { ...streaming.lead.subagents, maxConcurrent: names.length } } } },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    status: "completed",
    summary: "all",
  });
  expect(collected).toBe(REPEATS_TO_STOP + 1);
});

test("who collects a delegation that there never was is told so, and is given none of the others", async () => {
  const slow = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [
        callTools([delegate("worker", "fast"), delegate("worker", "slow")]),
        callTool("collect_results", { ids: ["run_nobody", "nothing"] }),
        ({ last }) => {
          expect(last).toContain("there is no delegation run_nobody, nothing");
          slow.resolve();
          return callTool("collect_results", { wait: "all" });
        },
        ({ last }) => say(last),
      ],
      worker: ({ task }) => (task === "slow" ? after(slow.promise, say("did slow")) : say("did fast")),
    },
    { agents: streaming },
  );
  const { session_id, details } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(details).toContain("did slow");
  const rows = await t.runtime.record.readRows({ sessionId: session_id });
  const failed = rows.filter((row) => row.request_type === "tool_call" && row.status === "failed");
  expect(failed.map((row) => row.response_content)).toEqual(["there is no delegation run_nobody, nothing"]);
});

test("a rule about an agent holds also where it is called by another of its names", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("helper", "x"), ({ last }) => say(last)], worker: [] },
    {
      agents: {
        lead: { subagents: { allow: ["*"] }, disallowedTools: ["delegate(worker)"] },
        worker: { aliases: ["helper"] },
      },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.models.worker?.requests).toHaveLength(0);
  expect(t.trace()).toEqual(["lead: completed"]);
});
