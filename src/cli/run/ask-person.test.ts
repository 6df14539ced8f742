import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../loop/ports.ts";
import { createAsker } from "./ask-person.ts";

function desk({ isTTY = false } = {}) {
  const said: string[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY });
  let asked = Promise.withResolvers<void>();
  return {
    said,
    stdin,
    tell: (text: string) => void said.push(text),
    prompt(text: string) {
      said.push(text);
      asked.resolve();
    },
    /** Answers the next question. */
    async answer(text: string) {
      await asked.promise;
      asked = Promise.withResolvers<void>();
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

test("what a terminal kept from before the question answers nothing", async () => {
  const at = desk({ isTTY: true });
  at.stdin.write("y\ny\n");
  const ask = createAsker(at);
  const both = Promise.all([ask(request("first"), signal), ask(request("second"), signal)]);
  await at.answer("n");
  at.stdin.write("y\n");
  await at.answer("n");
  expect((await both).map((answer) => answer.allowed)).toEqual([false, false]);
});

test("after the end of the input, later questions are a no at once and are not put to anybody", async () => {
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
