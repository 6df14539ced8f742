import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../../test/fixtures/hand-made-run.ts";
import type { Target } from "../../schema/rights.ts";
import { type AnyTool, defineTool, type ToolDefinition } from "../../tools/tool.ts";
import type { ToolCall } from "../model/reply.ts";
import { dispatch } from "./dispatch.ts";

type Input = Record<string, unknown>;
const tool = (name: string, more: Partial<ToolDefinition<Input>> = {}): AnyTool =>
  defineTool<Input>({
    ...{ name, description: "", input: { type: "object" }, replay: "safe", risk: "low" },
    execute: async () => `${name} ran`,
    ...more,
  });
let ids = 0;
const call = (name: string, input: unknown = {}, more: Partial<ToolCall> = {}): ToolCall => ({
  ...{ callId: `c${++ids}`, tool: name, input: JSON.stringify(input) },
  ...more,
});
const file: Target = { kind: "path", path: "/project/a", root: "project", relative: "a", mode: "read" };
const host: Target = { kind: "host", host: "a.example" };

/** Calls one tool once in a run of its own. */
async function callOnce(
  made: AnyTool,
  { input = {}, ...parts }: RunParts & { input?: unknown; call?: Partial<ToolCall> } = {},
) {
  const place = makeRun({ ...parts, tools: [made] });
  return { ...place, result: await dispatch(place.run, call(made.name, input, parts.call)) };
}

test("a call that is allowed runs, is counted, gives back its slot, and leaves a closed row", async () => {
  const { run, rows, result } = await callOnce(tool("read"));
  expect(result).toMatchObject({ outcome: "ok", text: "read ran" });
  expect([run.toolCalls, run.toolCounts.get("read"), [...run.toolsUsed], run.slot.isUsed]).toEqual([
    1,
    1,
    ["read"],
    false,
  ]);
  expect(rows).toMatchObject([{ closing: { status: "completed", metadata: { outcome: "ok" } } }]);
});

test("a tool that throws is an error for the model, and its slot is free again", async () => {
  const failing = tool("read", {
    execute: async () => {
      throw new Error("no disk");
    },
  });
  const { run, result } = await callOnce(failing);
  expect(result).toMatchObject({ outcome: "error", text: "'read' failed: no disk" });
  expect(run.slot.isUsed).toBe(false);
});

test("a call that delegates holds no slot while its children work", async () => {
  const used: boolean[] = [];
  const note = (context: { runId: string }, run: () => boolean) => {
    used.push(context.runId === "run_root" && run());
    return "";
  };
  for (const delegates of [false, "recorded"] as const) {
    let isUsed = () => false;
    const made = tool("work", { delegates, execute: async (_, context) => note(context, () => isUsed()) });
    const place = makeRun({ tools: [made] });
    isUsed = () => place.run.slot.isUsed;
    await dispatch(place.run, call("work"));
  }
  expect(used).toEqual([true, false]);
});

test("calls are limited in all and by tool; names that every object has are no limits", async () => {
  const { run } = makeRun({
    tools: [tool("read"), tool("constructor")],
    limits: { toolCalls: 3, perTool: { read: 1 } },
  });
  const texts = [];
  for (const name of ["read", "read", "constructor", "constructor", "constructor"])
    texts.push((await dispatch(run, call(name))).text);
  expect(texts).toEqual([
    "read ran",
    "the limit of 1 calls of 'read' is used up; go on without it",
    "constructor ran",
    "constructor ran",
    "the limit of 3 tool calls is used up; report what you have",
  ]);
  expect(run.overToolCalls).toBe(true);
});

test("a call that was counted before a crash, or that the host makes, does not count again", async () => {
  const resumed = { resumed: { rowId: null, counted: true } };
  for (const more of [resumed, { byHost: true }])
    expect((await callOnce(tool("read"), { call: more })).run.toolCalls).toBe(0);
  const uncounted = { resumed: { rowId: null, counted: false } };
  expect((await callOnce(tool("read"), { call: uncounted })).run.toolCalls).toBe(1);
});

test("what cannot be understood is an error that does not count", async () => {
  const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
  const cases = [
    await callOnce(tool("read", { input: schema })),
    await callOnce(tool("read", { check: () => "no such thing" })),
    await callOnce(tool("read"), { call: { unfinished: { finish: "length", maxOutputTokens: 5 } } }),
    await callOnce(tool("send", { outbound: true }), { call: { behind: "'write' failed" } }),
  ];
  for (const { run, rows, result } of cases) {
    expect([result.outcome, run.toolCalls]).toEqual(["error", 0]);
    expect(rows[0]?.closing?.metadata).toMatchObject({ uncounted: true });
  }
});

test("a denied call is told so, and so is a tool that the run was not given", async () => {
  const chain = [{ name: "own", ask: [], deny: [{ text: "read", tool: "read" }] }];
  expect((await callOnce(tool("read"), { chain })).result).toMatchObject({
    outcome: "denied",
    text: expect.stringContaining("permission denied: own: read denies"),
  });
  const { run } = makeRun({ tools: [tool("read")] });
  expect((await dispatch(run, call("raed"))).text).toContain("there is no tool 'raed'");
});

test("plan mode makes only calls of low risk, and a file that must come first is waited for", async () => {
  const planning = { session: { readOnly: true } };
  expect((await callOnce(tool("read"), planning)).result.outcome).toBe("ok");
  for (const risk of ["medium", "high"] as const)
    expect((await callOnce(tool("write", { risk }), planning)).result.outcome).toBe("denied");
  const workplace = { missingBefore: async () => "the plan must come first" };
  expect((await callOnce(tool("write"), { workplace })).result.text).toBe("the plan must come first");
});

test("a tool gets what the model wrote; what is shown and kept has no secrets, and they do not leave", async () => {
  const seen: unknown[] = [];
  const execute = async (input: Input) => {
    seen.push(input);
    return `echo ${KNOWN_SECRET}`;
  };
  const raw = { rawInput: JSON.stringify({ key: KNOWN_SECRET }) };
  const { result, rows } = await callOnce(tool("write", { execute }), {
    call: raw,
    input: { key: "[redacted:secret]" },
  });
  expect([seen, result.text]).toEqual([[{ key: KNOWN_SECRET }], "echo [redacted:secret]"]);
  expect(JSON.stringify(rows)).not.toContain(KNOWN_SECRET);
  for (const more of [{ outbound: true }, { access: () => [host] }])
    expect((await callOnce(tool("send", more), { input: { key: KNOWN_SECRET } })).result.text).toContain(
      "secrets do not leave",
    );
  expect((await callOnce(tool("send", { outbound: true }), { call: raw })).result.outcome).toBe("denied");
});

test("a call that reads what a tainted run wrote taints its own run, before it is judged", async () => {
  const untrusted = { hold: async (paths: Iterable<string>) => [...paths].includes("/project/a") };
  const { run, events, rows } = await callOnce(tool("read", { access: () => [file] }), { untrusted });
  expect([run.tainted, events.filter(({ type }) => type === "run.tainted").length]).toEqual([true, 1]);
  expect(rows[0]?.metadata).toMatchObject({ broughtUntrusted: true });
});

test("output from outside taints, and its row says so; a run is tainted only once", async () => {
  const ways = [
    tool("mail", { untrusted: true }),
    tool("mail", { execute: async () => ({ text: "x", tainted: true }) }),
  ];
  for (const made of ways) {
    const { run, rows, events } = await callOnce(made);
    await dispatch(run, call("mail"));
    expect([run.tainted, rows[0]?.closing?.metadata]).toMatchObject([true, { tainted: true }]);
    expect(events.filter(({ type }) => type === "run.tainted")).toHaveLength(1);
  }
});

test("what is not public is private data, and a file that was read is text of the project", async () => {
  const knows = async (more: Partial<ToolDefinition<Input>>) => {
    const { run } = await callOnce(tool("read", more));
    return [run.privateData, run.session.projectText.hasEntered];
  };
  expect(await knows({ isPublic: true })).toEqual([false, false]);
  expect(await knows({})).toEqual([true, false]);
  expect(await knows({ access: () => [file] })).toEqual([true, true]);
  expect(await knows({ isPublic: true, access: () => [file] })).toEqual([true, true]);
  expect(await knows({ isPublic: true, execute: async () => ({ text: "x", privateData: true }) })).toEqual([
    true,
    false,
  ]);
});

test("a safe call of equal input and state is answered from the cache, with its taint", async () => {
  let [runs, state] = [0, "v1"];
  const execute = async () => ({ text: `run ${++runs}`, tainted: true });
  const made = tool("read", { fileState: async () => state, execute });
  const first = await callOnce(made, { input: { path: "a" } });
  const again = makeRun({ tools: [made], session: { cache: first.run.session.cache } });
  const texts = [];
  for (const path of ["a", "b"]) texts.push((await dispatch(again.run, call("read", { path }))).text);
  state = "v2";
  texts.push((await dispatch(again.run, call("read", { path: "a" }))).text);
  expect(texts).toEqual(["run 1", "run 2", "run 3"]);
  const cached = makeRun({ tools: [made], session: { cache: first.run.session.cache } });
  expect(await dispatch(cached.run, call("read", { path: "a" }))).toMatchObject({ outcome: "cached" });
  expect([cached.run.tainted, cached.rows[0]?.closing?.metadata]).toMatchObject([true, { tainted: true }]);
});

test("errors are not cached, and neither is a call that may not run again", async () => {
  for (const more of [
    { execute: async () => ({ text: "x", isError: true }) },
    { replay: "never" as const },
  ]) {
    const { run } = await callOnce(tool("read", { fileState: async () => "v1", ...more }));
    expect((await dispatch(run, call("read"))).outcome).not.toBe("cached");
  }
});

test("a long answer is shortened and kept whole as a file", async () => {
  const saved: string[] = [];
  const saveArtefact = async (_: unknown, name: string, text: string) => {
    saved.push(text);
    return `/workspace/${name}`;
  };
  const made = tool("read", { execute: async () => "x".repeat(40_000) });
  const { result } = await callOnce(made, { workplace: { saveArtefact } });
  expect([result.text.length < 31_000, saved[0]?.length]).toEqual([true, 40_000]);
  expect(result.text).toContain("the whole is in /workspace/read-");
});

test("a refused call is no first half of a later one", async () => {
  const earlier: number[] = [];
  const made = tool("shell", {
    access: () => [file],
    confirm: (_, __, before = []) => {
      earlier.push(before.length);
      return null;
    },
  });
  const chain = [{ name: "own", ask: [], deny: [{ text: "shell(b)", tool: "shell", pattern: "b" }] }];
  const { run } = await callOnce(made, { chain });
  await dispatch(run, call("shell"));
  const b: Target = { ...file, path: "/project/b", relative: "b" };
  const refused = makeRun({
    tools: [tool("shell", { confirm: () => null, access: () => [b] })],
    chain,
    session: { earlier: run.session.earlier },
  });
  expect((await dispatch(refused.run, call("shell"))).outcome).toBe("denied");
  await dispatch(run, call("shell"));
  expect(earlier).toEqual([0, 1, 2]);
});

test("an answer to a request that carries what a run knows leads on only to those who were told", async () => {
  const made = tool("fetch", {
    isPublic: true,
    requests: () => ["https://a.example/?q=private"],
    execute: async () => ({ text: "x", shown: ["https://a.example/next https://b.example/"] }),
  });
  const { run } = makeRun({
    tools: [made],
    tainted: true,
    host: { approve: async () => ({ allowed: true, by: "ada" }) },
  });
  run.privateData = true;
  expect((await dispatch(run, call("fetch"))).outcome).toBe("ok");
  const { addresses } = run.session;
  expect(addresses.carries("https://a.example/?q=private")).toBe(true);
  expect([addresses.has("https://a.example/next"), addresses.has("https://b.example/")]).toEqual([
    true,
    false,
  ]);
  expect(addresses.carries("https://a.example/next")).toBe(true);
});
