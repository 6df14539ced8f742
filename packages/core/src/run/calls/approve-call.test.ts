import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../../test/fixtures/hand-made-run.ts";
import type { Decision, Target } from "../../schema/rights.ts";
import { defineTool, type ToolDefinition } from "../../tools/tool.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../ports.ts";
import { type AskedCall, approveIfNeeded } from "./approve-call.ts";

const ALLOWED: Decision = { verdict: "allow", layer: "own", reason: "it is allowed", consented: false };
const ASKED: Decision = { ...ALLOWED, verdict: "ask", reason: "own: send wants a person asked" };
const ada: Target = { kind: "recipient", address: "ada@example.org" };

/** Brings a call before a person; what the person was asked, and what came of it. */
async function bring(
  asked: Partial<AskedCall>,
  {
    answer = { allowed: true, by: "ada" },
    tool = {},
    ...parts
  }: RunParts & {
    answer?: ApprovalAnswer;
    tool?: Partial<ToolDefinition<unknown>>;
  } = {},
) {
  const requests: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest) => {
    requests.push(request);
    return answer;
  };
  const made = makeRun({ ...parts, host: { approve } });
  const send = defineTool<unknown>({
    ...{ name: "send", description: "", input: { type: "object" }, execute: async () => "" },
    ...tool,
  });
  const call: AskedCall = {
    ...{ callId: "c1", tool: send, input: { body: "hello" }, targets: [ada], decision: ALLOWED },
    ...{ risk: "medium", outbound: false, composed: [] },
    ...asked,
  };
  return { ...made, requests, answered: await approveIfNeeded(made.run, call) };
}

test("a call that is allowed, and that nobody else may steer, needs nobody", async () => {
  const { answered, requests } = await bring({ outbound: true });
  expect([answered, requests]).toEqual([null, []]);
});

test("a person is asked where a rule asks, and the answer is told with who gave it", async () => {
  const { answered, requests, events } = await bring({ decision: ASKED });
  expect(answered).toEqual({ allowed: true, text: "ada" });
  expect(requests).toMatchObject([
    { tool: "send", reason: ASKED.reason, risk: "medium", tainted: false, chain: ["solo"] },
  ]);
  expect(events.map(({ type }) => type)).toEqual(["approval.requested", "approval.settled"]);
});

test("a tainted run that acts outside asks, although the rules allow it", async () => {
  const { requests } = await bring({ outbound: true }, { tainted: true });
  expect(requests).toMatchObject([{ tainted: true, reason: expect.stringContaining("untrusted text") }]);
  expect((await bring({ outbound: false }, { tainted: true })).requests).toEqual([]);
});

test("what a model put together for the web is of high risk, and is shown", async () => {
  const composed = Array.from({ length: 7 }, (_, index) => `https://a.example/${index}`);
  const { requests } = await bring({ composed }, { tainted: true });
  expect(requests).toMatchObject([
    { risk: "high", reason: expect.stringContaining("https://a.example/4 and 2 more") },
  ]);
});

test("a tool may want this very call confirmed, unless a rule names whom it reaches", async () => {
  const tool = { confirm: () => "it sends money" };
  expect((await bring({}, { tool })).requests).toMatchObject([
    { mustConfirm: true, reason: "it sends money" },
  ]);
  const named = { ...ALLOWED, consented: true };
  expect((await bring({ decision: named }, { tool })).requests).toEqual([]);
});

test("an approval is bound to exactly these arguments and targets", async () => {
  const hashOf = async (more: Partial<AskedCall>) =>
    (await bring({ decision: ASKED, ...more })).requests[0]?.inputHash;
  const hashes = [
    await hashOf({}),
    await hashOf({ input: { body: "other" } }),
    await hashOf({ targets: [] }),
    await hashOf({}),
  ];
  expect(new Set(hashes).size).toBe(3);
  expect(hashes[0]).toBe(hashes[3]);
});

test("no secret is shown to a person or kept in what was asked", async () => {
  const tool = { confirm: () => `says ${KNOWN_SECRET}`, present: () => `Body: ${KNOWN_SECRET}` };
  const answer = { allowed: false, by: "ada", note: `not ${KNOWN_SECRET}` };
  const { requests, events } = await bring({ input: { body: KNOWN_SECRET } }, { tool, answer });
  expect(JSON.stringify([requests, events])).not.toContain(KNOWN_SECRET);
});

test("a no is told with its note; where nobody is there the model is told what it can do", async () => {
  const no = await bring({ decision: ASKED }, { answer: { allowed: false, by: "ada", note: "too early" } });
  expect(no.answered).toMatchObject({
    allowed: false,
    text: expect.stringMatching(/ada did not give it: too early$/),
  });
  const nobody = await bring(
    { decision: ASKED },
    { answer: { allowed: false, by: "nobody", note: "for the person" } },
  );
  expect(nobody.answered?.text).toContain("nobody is there to give it");
  expect(nobody.answered?.text).not.toContain("for the person");
});

test("time with a person counts for nobody", async () => {
  const { run, clock } = makeRun({
    host: {
      approve: async () => {
        await Promise.resolve();
        clock.advance(5_000);
        return { allowed: true, by: "ada" };
      },
    },
  });
  const send = defineTool<unknown>({
    name: "send",
    description: "",
    input: { type: "object" },
    execute: async () => "",
  });
  const call = { callId: "c1", tool: send, input: {}, targets: [], decision: ASKED, composed: [] };
  await approveIfNeeded(run, { ...call, risk: "low", outbound: false });
  expect(run.elapsedMs(clock.monotonicMs())).toBe(0);
});
