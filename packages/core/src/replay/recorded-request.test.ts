import { expect, test } from "vitest";
import { makeCallRow, makeRunRow, makeTurnRow } from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { parseRules } from "../rights/rule.ts";
import type { ApprovalRequest } from "../run/ports.ts";
import type { Layer } from "../schema/rights.ts";
import { approvalsIn, flagsOf, readRootRequest } from "./recorded-request.ts";
import { RecordedSession } from "./recorded-session.ts";

const LEAD = { ...makeRun().run.agent, name: "lead", model: "fast", deliverables: [{ file: "own.md" }] };

/** A root row whose snapshot is as said, and the session it is in. */
function readRoot(metadata: object, snapshot: object = {}) {
  const root = makeRunRow([], { agent_role: "lead", request_content: "the message", metadata });
  const kept = JSON.stringify({ agent: LEAD, model: "fast", chain: [], ...snapshot });
  return [root, new RecordedSession([root], (id) => (id === "snapshot" ? kept : undefined))] as const;
}
const readRequest = (...parts: Parameters<typeof readRoot>) => readRootRequest(...readRoot(...parts));
const layer = (name: string, rules: Partial<Record<"allow" | "deny", Layer["deny"]>>): Layer => ({
  ...{ name, allow: [], ask: [], deny: [] },
  ...rules,
});

test("a root run is asked for again with everything that came with its task", () => {
  const asked = {
    ...{ task: "the task", limits: { turns: 3 }, told: "told", tainted: true, privateData: true },
  };
  expect(readRequest(asked)).toEqual({ agent: "lead", deliverables: [], ...asked });
  expect(readRequest({})).toEqual({ agent: "lead", task: "the message", deliverables: [] });
  expect(readRequest({ snapshot: undefined })).toEqual({ agent: "lead", task: "the message" });
  expect(readRequest({ told: "" })).toMatchObject({ told: "" });
});

test("only deliverables that its agent does not name itself came with a task", () => {
  const deliverables = [{ file: "own.md" }, { file: "asked.md" }];
  expect(readRequest({ deliverables }).deliverables).toEqual([{ file: "asked.md" }]);
});

test("a model came with a task if it is not the agent's own, and tools if they were narrowed for this agent", () => {
  expect(readRequest({}, { model: "slow" }).model).toBe("slow");
  expect(readRequest({}).model).toBeUndefined();
  const allow = parseRules(["read", "write(a/**)"], "x");
  const narrowed = { chain: [layer("delegation to lead", { allow })] };
  expect(readRequest({}, narrowed).tools).toEqual(["read", "write(a/**)"]);
  expect(readRequest({}, { chain: [layer("delegation to other", { allow })] }).tools).toBeUndefined();
});

test("a run that carried out a plan has the agent of then, and a program instead of a model if it had", () => {
  expect(readRequest({ conducted: { kind: "plan" } })).toEqual({
    ...{ agent: "lead", task: "the message", deliverables: [], leader: JSON.parse(JSON.stringify(LEAD)) },
  });
  expect(readRequest({ conducted: { kind: "program" } })).toMatchObject({ program: null });
});

test("flags took away what the session denied, but neither its paths nor that it is read-only", () => {
  const deny: Layer["deny"] = [
    { text: "shell(rm *)", tool: "shell" },
    { text: "a/**", tool: "*", mode: "write" },
    { text: "read-only session", tool: "shell" },
  ];
  const chain = [layer("settings", { deny: parseRules(["read"], "x") }), layer("session", { deny })];
  expect(flagsOf(...readRoot({}, { chain }))).toEqual({ disallowedTools: ["shell(rm *)"] });
  expect(flagsOf(...readRoot({}))).toEqual({ disallowedTools: [] });
});

test("who approved a call approves it again, with this tool and these arguments only", async () => {
  const call = (approvedBy?: string) =>
    makeCallRow("call_1", {
      request_content: '{ "to": "ada" }',
      metadata: { tool: "send", ...(approvedBy && { approvedBy }) },
    });
  const ask = (tool: string, input: unknown, row = call("Ada")) =>
    approvalsIn([makeRunRow(), makeRunRow([makeTurnRow(0, { children: [row] })])])(
      { tool, input } as ApprovalRequest,
      new AbortController().signal,
    );
  expect(await ask("send", { to: "ada" })).toEqual({ allowed: true, by: "Ada" });
  const nobody = { allowed: false, by: "nobody", note: "as recorded" };
  expect(await ask("send", { to: "bob" })).toEqual(nobody);
  expect(await ask("post", { to: "ada" })).toEqual(nobody);
  expect(await ask("send", { to: "ada" }, call())).toEqual(nobody);
});
