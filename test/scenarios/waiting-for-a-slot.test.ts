import type { Ledger } from "@retinue/core/budget/ledger";
import { guards } from "@retinue/core/run/guards";
import { callTool, callTools, hang, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

/** A tool that is at work until it is let go. */
function heldTool() {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const tool = defineTool<object>({
    name: "hold",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => {
      begun.resolve();
      await over.promise;
      return "held";
    },
  });
  return { tool, begun: begun.promise, letGo: () => over.resolve() };
}

const SPENT = { input: 100, output: 10 };

test("a child that is stopped while it waits for a slot gives back its place at the provider, and its budget", async () => {
  const held = heldTool();
  const two = ["holder", "waiter"].map((agent) => ({ tool: "delegate", input: { agent, task: "go" } }));
  const accounts = new Set<Ledger>();
  const reserve: typeof guards.reserve = (account, ...more) => {
    for (let at: Ledger | null = account; at; at = at.parent) accounts.add(at);
    return guards.reserve(account, ...more);
  };
  await using t = testRuntime(
    {
      lead: [callTools(two, SPENT), say("done", SPENT)],
      holder: [callTool("hold", {}, SPENT), say("held it", SPENT)],
      waiter: [say("never", SPENT)],
    },
    {
      tools: [held.tool],
      lenient: true,
      settings: {
        maxConcurrent: 1,
        maxOutputTokens: 1_000,
        providers: { scripted: { kind: "openai-compatible", maxConcurrent: 1 } },
      },
      agents: { lead: { limits: { tokens: 50_000 } } },
      internals: { guards: { reserve } },
    },
  );
  const waits = () =>
    t.events.flatMap((event) => (event.type === "run.waiting" && event.on ? [[event.runId, event.on]] : []));
  const ids = new Map<string, string>();
  t.runtime.events((event) => {
    if (event.type !== "run.started") return;
    ids.set(event.agent, event.runId);
    // It begins only when the other one has the slot.
    if (event.agent === "waiter") t.runtime.pause(event.runId);
  });
  const { result } = await t.runtime.start({ agent: "lead", task: "go" });
  await held.begun;
  const hasEnded = (agent: string) =>
    t.events.some((event) => event.type === "run.ended" && event.agent === agent);
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(() => ids.has("waiter"));
  t.runtime.unpause(ids.get("waiter") ?? "");
  await until(() => waits().some(([runId, on]) => runId === ids.get("waiter") && on === "slot"));
  const reserved = () =>
    [...accounts].map((account) => account.tokensReserved).filter((tokens) => tokens > 0);
  expect(reserved()).not.toEqual([]);
  t.runtime.cancel(ids.get("waiter") ?? "");
  await until(() => hasEnded("waiter"));
  expect(reserved()).toEqual([]);
  const before = waits().length;
  held.letGo();
  const waitsForProvider = () =>
    waits()
      .slice(before)
      .some(([, on]) => on === "provider");
  await until(() => hasEnded("holder") || waitsForProvider());
  expect(waitsForProvider()).toBe(false);
  expect(t.models.waiter?.requests).toHaveLength(0);
  expect(await result).toMatchObject({ status: "completed", tokens: { subtree: 440 } });
});

test.each([
  ["in a tool call", callTool("hold", {})],
  ["in a model call", hang()],
])("a run that is stopped %s leaves its slot and its place at the provider to the next", async (_, step) => {
  const held = heldTool();
  await using t = testRuntime(
    { stopped: [step], next: [say("done")] },
    {
      tools: [held.tool],
      settings: {
        maxConcurrent: 1,
        providers: { scripted: { kind: "openai-compatible", maxConcurrent: 1 } },
      },
    },
  );
  const { runId, result } = await t.runtime.start({ agent: "stopped", task: "go" });
  const isUnderWay = () =>
    t.events.some(({ type }) => type === (step.kind === "hang" ? "turn.started" : "call.started"));
  while (!isUnderWay()) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.cancel(runId);
  expect(await result).toMatchObject({ status: "cancelled" });
  const waited = Promise.withResolvers<string>();
  t.runtime.events((event) => {
    if (event.type === "run.waiting" && event.on) waited.resolve(`waits for a ${event.on}`);
  });
  const next = await t.runtime.start({ agent: "next", task: "go" });
  expect(await Promise.race([waited.promise, next.result.then(({ status }) => status)])).toBe("completed");
});
