import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubAgentResponse } from "@retinue/core/intent/intent-shapes";
import { readTree } from "@retinue/core/record/read-tree";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { Risk } from "@retinue/core/schema/rights";
import { callTool, type Script, say, type TestRuntime, testRuntime } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const plan = (tool: string) => say(JSON.stringify({ tools: [tool], params: {}, sequence: [tool] }));
const intent = { agents: { mailer: { flow: "intent" as const } } };
const input = { type: "object", properties: { to: { type: "string" } } } as const;
const recipient = (address: string) => [{ kind: "recipient" as const, address }];

async function divergence({ runtime }: TestRuntime, sessionId: string, tools: readonly AnyTool[], env = {}) {
  const options = { agents: runtime.agents.list(), tools, env };
  return (await replaySession(options, runtime.record, sessionId)).divergence;
}

test.each(["access", "risk", "confirm", "present"])(
  "a tool that does not come back from %s does not hold a run that is stopped",
  async (what) => {
    const reached = Promise.withResolvers<void>();
    const slow = defineTool<object>({
      name: "slow",
      description: "x",
      input,
      ...(what === "present" && { confirm: () => "sure?" }),
      [what]: () => {
        reached.resolve();
        return new Promise<never>(() => {});
      },
      execute: async () => "done",
    });
    await using t = testRuntime({ lead: [callTool("slow", {})] }, { tools: [slow] });
    const { runId, result } = await t.runtime.start({ agent: "lead", task: "go" });
    await reached.promise;
    t.runtime.cancel(runId);
    expect((await result).status).toBe("cancelled");
  },
);

test.each([true, false])(
  "a replay asks nothing outside about a call that a person was asked about (allowed: %s)",
  async (allowed) => {
    let asked = 0;
    let isThere = true;
    const look = <Value>(value: Value) => {
      asked++;
      if (!isThere) throw new Error('{"error":{"type":"params","message":"there is no such event"}}');
      return value;
    };
    const erase = defineTool<object>({
      name: "erase",
      description: "x",
      groups: ["calendar"],
      input,
      replay: "lookup",
      outbound: true,
      access: async () => look(recipient("calendar")),
      risk: async () => look<Risk>("high"),
      confirm: async () => look("it is deleted for good"),
      present: async () => look("Deletes the lunch"),
      lookup: async () => null,
      execute: async () => {
        isThere = false;
        return "{}";
      },
    });
    await using t = testRuntime(
      { mailer: [plan("erase"), callTool("erase", {}), say("That is all.")] },
      { tools: [erase], ...intent, ...(allowed && { approve: async () => ({ allowed, by: "Ada" }) }) },
    );
    const { success, session_id } = await t.runtime.run({ agent: "mailer", task: "Delete the lunch" });
    expect(success).toBe(allowed);
    isThere = false;
    asked = 0;
    expect(await divergence(t, session_id, [erase])).toBeNull();
    expect(asked).toBe(0);
  },
);

test("a call whose address could not be found is replayed without looking again", async () => {
  let asked = 0;
  const mail = defineTool<object>({
    name: "mail",
    description: "x",
    input,
    replay: "lookup",
    access: async () => {
      asked++;
      throw new Error("no such person");
    },
    lookup: async () => null,
    execute: async () => "{}",
  });
  await using t = testRuntime({ lead: [callTool("mail", {}), say("Not sent.")] }, { tools: [mail] });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(await divergence(t, session_id, [mail])).toBeNull();
  expect(asked).toBe(1);
});

test("a call that was refused for the secret in it is refused in the replay, and the record does not hold it", async () => {
  const env = { OPENAI_API_KEY: "sk-canary-0123456789abcdefghijklmnop" };
  const secret = env.OPENAI_API_KEY;
  const posted: string[] = [];
  const post = defineTool<{ to: string }>({
    name: "post",
    description: "x",
    groups: ["slack"],
    input,
    replay: "lookup",
    outbound: true,
    access: async () => recipient("#general"),
    lookup: async () => null,
    execute: async ({ to }) => {
      posted.push(to);
      return "{}";
    },
  });
  const assessed = say(JSON.stringify({ tools: ["post"], params: { [secret]: secret }, notes: secret }));
  await using t = testRuntime(
    { mailer: [assessed, callTool("post", { to: secret }), say(`Not posted: ${secret}`)] },
    { tools: [post], env, ...intent },
  );
  const result = await t.runtime.run({ agent: "mailer", task: `Post ${secret}` });
  expect(posted).toEqual([]);
  for (const kept of [result, await readTree(t.runtime.record, result.session_id), t.events])
    expect(JSON.stringify(kept)).not.toContain(secret);
  expect(await divergence(t, result.session_id, [post], env)).toBeNull();
});

test.each([
  ["happened", true, []],
  ["did not happen", true, ["jo"]],
  ["is not known", false, []],
] as const)("a call that a crash cut off and that %s", async (what, success, expected) => {
  const root = mkdtempSync(join(tmpdir(), "retinue-cut-"));
  const places = {
    projectDir: root,
    dataDir: join(root, "data"),
    database: join(root, "data", "retinue.db"),
  };
  const reached = Promise.withResolvers<void>();
  const sent: string[] = [];
  let isCut = true;
  const mail = defineTool<{ to: string }>({
    name: "mail",
    description: "x",
    groups: ["email"],
    input,
    replay: "lookup",
    access: async ({ to }) => recipient(to),
    lookup: async () => {
      if (what === "is not known") throw new Error("no answer");
      return what === "happened" ? { text: '{"message_id":"m1"}', tainted: true } : null;
    },
    execute: async ({ to }) => {
      reached.resolve();
      if (isCut) return new Promise<string>(() => {});
      sent.push(to);
      return '{"message_id":"m1"}';
    },
  });
  // Wherever it may call, it calls once more.
  const script: Script = ({ turn, options: { toolChoice } }) => {
    if (turn === 0) return plan("mail");
    return toolChoice?.type === "none" ? say("That is all.") : callTool("mail", { to: "jo" });
  };
  const options = { ...places, tools: [mail], lenient: true, ...intent };
  const cut = testRuntime({ mailer: script }, options);
  const { sessionId } = await cut.runtime.start({ agent: "mailer", task: "Send it to jo" });
  await reached.promise;
  await cut.runtime.record.committed();
  isCut = false;
  const after = testRuntime({ mailer: script }, options);
  const result = await (await after.runtime.resume(sessionId)).result;
  expect(sent).toEqual(expected);
  const { success: said, result: given } = result.data as SubAgentResponse;
  expect([said, given.tools_used, result.tainted]).toEqual([success, ["mail"], what === "happened"]);
  expect(await divergence(after, sessionId, [mail])).toBeNull();
  await after.close();
  await cut.close();
  rmSync(root, { recursive: true, force: true });
});
