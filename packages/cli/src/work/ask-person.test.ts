import { PassThrough } from "node:stream";
import { AnsweredElsewhere } from "@retinue/core/host/approvals";
import type { ApprovalRequest } from "@retinue/core/run/ports";
import { expect, test } from "vitest";
import { stepClock } from "../../../../test/server/step-clock.ts";
import { createAsker } from "./ask-person.ts";

function desk({ isTTY = false } = {}) {
  const said: string[] = [];
  const raw: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: (isRaw: boolean) => raw.push(isRaw) });
  let asked = Promise.withResolvers<void>();
  return {
    said,
    stdin,
    raw,
    tell: (text: string) => void said.push(text),
    prompt(text: string) {
      said.push(text);
      asked.resolve();
    },
    /** Waits for the next question. */
    async asked() {
      await asked.promise;
      asked = Promise.withResolvers<void>();
    },
    /** Answers the next question. */
    async answer(text: string) {
      await this.asked();
      stdin.write(`${text}\n`);
    },
  };
}

const request = (tool: string): ApprovalRequest => ({
  approvalId: "apr_1",
  runId: "run_1",
  callId: "call",
  sessionId: "ses_1",
  tool,
  groups: [],
  targets: [],
  input: { path: "a\u001b[2Jb" },
  inputHash: "h",
  risk: "medium",
  reason: "because",
  chain: ["main", "coder"],
  tainted: false,
  mustConfirm: false,
});
const signal = new AbortController().signal;
async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise((resolve) => setImmediate(resolve));
}

test("only a yes is a yes", async () => {
  for (const [text, allowed] of [
    ["y", true],
    [" YES ", true],
    ["", false],
    ["n", false],
    ["yeah", false],
  ] as const) {
    const at = desk();
    const asking = createAsker(at)(request("write"), signal);
    await at.answer(text);
    expect(await asking).toEqual({ allowed, by: "the person at the terminal" });
    expect(at.said.join("\n")).not.toContain("\u001b");
    expect(at.said.at(-1)).toBe("   allow write for coder? [y/N] ");
  }
});

test("questions come one after the other, and an answer typed ahead does not count for the next", async () => {
  const at = desk();
  const ask = createAsker(at);
  const both = Promise.all([ask(request("first"), signal), ask(request("second"), signal)]);
  await at.answer("y\ny");
  await at.answer("n");
  expect((await both).map((answer) => answer.allowed)).toEqual([true, false]);
});

test("the end of the input and the stop of the run are a no", async () => {
  const at = desk();
  const asking = createAsker(at)(request("write"), signal);
  at.stdin.end();
  expect((await asking).allowed).toBe(false);
  const stopped = new AbortController();
  const other = createAsker(desk())(request("write"), stopped.signal);
  stopped.abort();
  expect((await other).allowed).toBe(false);
});

test("what was typed before a question answers nothing", async () => {
  const at = desk({ isTTY: true });
  at.stdin.write("y\ny\n");
  const ask = createAsker(at);
  const both = Promise.all([ask(request("first"), signal), ask(request("second"), signal)]);
  await at.answer("n");
  at.stdin.write("y\n");
  await at.answer("n");
  expect((await both).map((answer) => answer.allowed)).toEqual([false, false]);
});

test("after the end of the input, later questions are denied at once and not asked", async () => {
  const at = desk();
  const ask = createAsker(at);
  const both = Promise.all([ask(request("first"), signal), ask(request("second"), signal)]);
  at.stdin.end();
  expect((await both).map((answer) => answer.by)).toEqual(["the person at the terminal", "nobody"]);
  expect(at.said.join("\n")).not.toContain("second");
});

test("a call is shown with everything in it, even what escape codes would hide", async () => {
  const at = desk();
  const asking = createAsker(at)(
    { ...request("shell"), input: { command: "ls \u009bx;reboot;\u009c" } },
    signal,
  );
  await at.answer("n");
  await asking;
  expect(at.said.join("\n")).toContain("ls \\u009bx;reboot;\\u009c");
});

test("a question that is answered elsewhere says so and releases the keyboard", async () => {
  const at = desk({ isTTY: true });
  const elsewhere = new AbortController();
  const asking = createAsker(at)(request("write"), elsewhere.signal);
  await at.asked();
  elsewhere.abort(new AnsweredElsewhere({ allowed: true, by: "the person in the browser" }));
  expect((await asking).allowed).toBe(false);
  expect(at.said.at(-1)).toBe("(answered elsewhere: allowed by the person in the browser)");
  expect([at.stdin.isPaused(), at.stdin.listenerCount("data")]).toEqual([true, 0]);
  expect(at.raw).toEqual([true, false]);
});

test.each([
  ["somebody else has answered", new AnsweredElsewhere({ allowed: false, by: "ada" })],
  ["its run was stopped", new Error("stopped")],
])(
  "what is typed for a question that went away answers neither it nor the next one: %s",
  async (_, reason) => {
    const at = desk({ isTTY: true });
    const clock = stepClock();
    const elsewhere = new AbortController();
    const ask = createAsker(at, clock);
    const both = Promise.all([ask(request("first"), elsewhere.signal), ask(request("second"), signal)]);
    await until(() => clock.pending === 1);
    clock.advance(50);
    await at.asked();
    elsewhere.abort(reason);
    await until(() => clock.pending === 1);
    clock.advance(900);
    expect(clock.pending).toBe(1);
    at.stdin.write("y\n");
    await until(() => at.stdin.readableLength === 0);
    expect(at.said.join("\n")).not.toContain("second");
    clock.advance(100);
    await at.answer("n");
    expect((await both).map((answer) => answer.allowed)).toEqual([false, false]);
  },
);
