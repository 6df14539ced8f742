import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { pushReply, pushResults } from "../run/history.ts";
import type { Reply } from "../run/model/reply.ts";
import type { Ending } from "../run/outcome.ts";
import type { Run } from "../run/run.ts";
import { defineTool } from "../tools/tool.ts";
import { endIntent } from "./end-intent.ts";
import { intentFlow } from "./intent-flow.ts";

const tool = (name: string, more: object = {}) =>
  defineTool<object>({
    name,
    description: "",
    input: { type: "object" },
    groups: ["email"],
    execute: async () => "",
    ...more,
  });
const TOOLS = [tool("look", { risk: "low", replay: "safe" }), tool("send")];

/** A run of the flow that planned these calls and had these answers; then it said these words, of which the last are its summary. */
function makeIntent(
  sequence: readonly string[],
  turns: readonly [tool: string, ok: boolean, text: string][][],
  ...words: string[]
): Run {
  const { run } = makeRun({ tools: TOOLS, flow: intentFlow, asked: "mail ada" });
  const reply = (text: string, tools: readonly string[] = []): Reply => ({
    ...{ text, reasoning: [], finish: "stop", usage: undefined, modelId: undefined },
    calls: tools.map((name, index) => ({
      callId: `${run.history.length}-${index}`,
      tool: name,
      input: "{}",
    })),
  });
  pushReply(run, reply(JSON.stringify({ tools: [...new Set(sequence)], sequence, missing: [] })));
  for (const turn of turns) {
    const asked = reply(
      "",
      turn.map(([name]) => name),
    );
    pushReply(run, asked);
    pushResults(
      run,
      turn.map(([name, ok, text], index) => ({
        ...{ callId: asked.calls[index]?.callId ?? "", tool: name, text, outcome: ok ? "ok" : "error" },
      })),
    );
  }
  for (const text of words) pushReply(run, reply(text));
  return run;
}
const completed = (text: string): Ending => ({ status: "completed", text });
const responseIn = ({ data }: Ending) =>
  data as { success: boolean; error?: object; result: { summary: string; data: unknown }; domain: string };
const SENT: [string, boolean, string] = ["send", true, '{"id":"m1"}'];
const FAILED: [string, boolean, string] = ["send", false, "'send' failed: no network"];

test("a request whose planned calls all succeeded is fulfilled; only the summary is the model's", () => {
  const ending = endIntent(
    makeIntent(["look", "send"], [[["look", true, "x"], SENT]], "It is sent."),
    completed("It is sent."),
  );
  expect([ending.status, ending.partial, ending.error]).toEqual(["completed", false, undefined]);
  expect(responseIn(ending)).toMatchObject({
    success: true,
    domain: "email",
    request: "mail ada",
    result: { summary: "It is sent.", data: { id: "m1", look: "x" } },
  });
});

test("a request that was not fulfilled is a failed run, with what was done before and why the rest was not", () => {
  const ending = endIntent(
    makeIntent(["look", "send"], [[["look", true, "x"], FAILED]], "Sorry."),
    completed("Sorry."),
  );
  expect([ending.status, ending.error?.message]).toEqual(["failed", "'send' failed: no network"]);
  expect(responseIn(ending)).toMatchObject({ success: false, error: { type: "tool_error", tool: "send" } });
});

test("once every write is done, a look-up that failed is a warning and no failure", () => {
  const run = makeIntent(
    ["look", "send"],
    [[["look", false, "'look' failed: gone"], SENT]],
    "That is all.",
    "Sent.",
  );
  const ending = endIntent(run, completed("Sent."));
  expect([ending.status, responseIn(ending).success]).toEqual(["completed", true]);
  expect(run.warnings).toEqual([expect.stringContaining("'look' did not succeed: 'look' failed: gone")]);
  expect(responseIn(ending).result.summary).toBe("Done: send (id m1). Sent.");
});

test("what was done stays done if the model fails afterwards, also when its time was over, but not if a person stopped it", () => {
  const error = { type: "failed" as const, message: "no model", recoverable: false };
  const failed: Ending = { status: "failed", text: "", error };
  const fulfilled = endIntent(makeIntent(["send"], [[SENT]]), failed);
  expect([fulfilled.status, fulfilled.error, responseIn(fulfilled).result.summary]).toEqual([
    ...["completed", undefined, "Done: send (id m1)."],
  ]);
  const stopped = (status: "timeout" | "cancelled") => {
    const run = makeIntent(["send"], [[SENT]]);
    run.interrupt({ status, bailout: status, message: "over" });
    return endIntent(run, { status, text: "", error: { ...error, type: status } }).status;
  };
  expect([stopped("timeout"), stopped("cancelled")]).toEqual(["completed", "cancelled"]);
  expect(endIntent(makeIntent(["send"], [[FAILED]]), failed).status).toBe("failed");
});

test("a contract that is broken is no fulfilled request", () => {
  const verdicts = [{ deliverable: "a", ok: false, reason: "missing", files: [] }];
  const error = { type: "deliverable" as const, message: "missing", recoverable: true };
  expect(
    endIntent(makeIntent(["send"], [[SENT]], "Sent."), { status: "failed", text: "Sent.", verdicts, error })
      .status,
  ).toBe("failed");
});

test("where the model said nothing the host tells what was done, and what came after that", () => {
  const run = makeIntent(["look", "send"], [[["look", true, "x"], FAILED]]);
  expect(responseIn(endIntent(run, completed(""))).result.summary).toBe(
    "Done: look. After that: 'send' failed: no network",
  );
});

test("words of earlier phases are no summary: the host tells what was done", () => {
  const run = makeIntent(["send"], [[SENT]]);
  const earlier = JSON.stringify({ tools: ["send"], sequence: ["send"], missing: [] });
  expect(responseIn(endIntent(run, completed(earlier))).result.summary).toBe("Done: send (id m1).");
});

test("no secret is in a response", () => {
  const run = makeIntent(["send"], [[["send", true, JSON.stringify({ id: KNOWN_SECRET })]]], "Sent.");
  expect(JSON.stringify(endIntent(run, completed("Sent.")).data)).not.toContain(KNOWN_SECRET);
});
