import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun } from "../../../../../test/fixtures/hand-made-run.ts";
import { defineTool, type ToolDefinition } from "../../tools/tool.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import { resumeCall } from "./resume-call.ts";

const BEGUN = { resumed: { rowId: 1, counted: true } };

/** Goes on with a call of one tool after a crash; `made` are the calls that were made (again). */
async function resume(tool: Partial<ToolDefinition<unknown>>, more: Partial<ToolCall> = BEGUN) {
  const made: string[] = [];
  const makeCall = async (_: unknown, { callId, tool: name }: ToolCall): Promise<CallResult> => {
    made.push(callId);
    return { callId, tool: name, text: "made", outcome: "ok" };
  };
  const send = defineTool<unknown>({
    ...{ name: "send", description: "", input: { type: "object" }, execute: async () => "" },
    ...tool,
  });
  const place = makeRun({ tools: [send], host: { makeCall } });
  place.run.session.journal.open({
    ...{ sessionId: "ses_1", parentId: 0, runId: "run_root", type: "tool_call", agentRole: "solo", depth: 0 },
    startedAtMs: 0,
  });
  return {
    ...place,
    made,
    result: await resumeCall(place.run, { callId: "c1", tool: "send", input: "{}", ...more }),
  };
}

test("a call that never began, or that may run again, is made", async () => {
  expect((await resume({ replay: "never" }, { resumed: { rowId: null, counted: true } })).made).toEqual([
    "c1",
  ]);
  expect((await resume({ replay: "safe" })).made).toEqual(["c1"]);
});

test("of a call that must not run twice it is only known that it may have happened, and a person is told", async () => {
  const { made, result, rows, events, run } = await resume({ replay: "never" });
  expect(made).toEqual([]);
  expect(result).toMatchObject({
    outcome: "error",
    text: expect.stringContaining("not known whether 'send' took effect"),
  });
  expect(rows).toMatchObject([{ closing: { metadata: { outcome: "error" } } }]);
  expect(events.filter(({ type }) => type === "notice.raised")).toHaveLength(1);
  expect([...run.toolsUsed]).toEqual(["send"]);
});

test("a call that the outside says did not happen is made, one that did is not", async () => {
  const lookup = { replay: "lookup" } as const;
  expect((await resume({ ...lookup, lookup: async () => null })).made).toEqual(["c1"]);
  const sent = await resume({ ...lookup, untrusted: true, lookup: async () => `sent ${KNOWN_SECRET}` });
  expect([sent.made, sent.result]).toMatchObject([[], { outcome: "ok", text: "sent [redacted:secret]" }]);
  expect([sent.run.tainted, sent.run.privateData]).toEqual([true, true]);
  expect(sent.rows).toMatchObject([{ closing: { metadata: { tainted: true } } }]);
});

test("a look-up that fails, or that there is not, leaves it unknown and repeats nothing", async () => {
  const failing = async () => {
    throw new Error("no network");
  };
  for (const lookup of [{ lookup: failing }, {}]) {
    const { made, result } = await resume({ replay: "lookup", ...lookup });
    expect([made, result.outcome]).toEqual([[], "error"]);
  }
});

test("a call whose secret was not kept is not made with a placeholder", async () => {
  const { made, result } = await resume({ replay: "safe" }, { ...BEGUN, redacted: true });
  expect([made, result.outcome]).toEqual([[], "error"]);
});
