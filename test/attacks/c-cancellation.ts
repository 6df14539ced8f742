import type { WaitingOn } from "@retinue/core/schema/event";
import type { RunResult } from "@retinue/core/schema/result";
import { callDelegate, callDelegateMany, callTool, hang, say, type TestRuntime } from "@retinue/core/testing";
import { expect } from "vitest";
import { type Attack, expectSettled } from "./attack.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const CANCEL = "a stop goes down the tree of runs by itself; no guard is asked";

/** Resolves once so many runs of an agent have begun. */
function begun(t: TestRuntime, agent: string, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const ids: string[] = [];
    t.runtime.events((event) => {
      if (event.type === "run.started" && event.agent === agent && ids.push(event.runId) === count)
        resolve(ids);
    });
  });
}

const statuses = (t: TestRuntime): string[] =>
  t.events.flatMap((event) => (event.type === "run.ended" ? [`${event.agent} ${event.result.status}`] : []));

/** Cancels once a hundred children hang in calls that ignore every signal. */
async function cancelCrowd(t: TestRuntime, cancels: boolean): Promise<RunResult> {
  const all = begun(t, "stuck", 100);
  const handle = await t.runtime.start({
    agent: "lead",
    task: "go",
    limits: { minutes: cancels ? 5 : 1 / 600 },
  });
  await all;
  if (cancels) t.runtime.cancel(handle.sessionId);
  return handle.result;
}

/** A stop reaches everything below it, and nothing else. */
export const C_CASES: readonly Attack[] = [
  {
    id: "C1",
    title: "stopping a session with a hundred children that ignore every signal settles all of them",
    noGuard: CANCEL,
    setup: (world) => ({
      settings: { maxConcurrent: 100 },
      agents: { lead: { subagents: { allow: ["stuck"], maxConcurrent: 100 } } },
      tools: [world.tool("sleep", { replay: "never", execute: () => new Promise(() => {}) })],
    }),
    turns: () => ({
      lead: (request) =>
        request.turn === 0
          ? callDelegateMany(
              Array.from({ length: 120 }, (_, index) => ({
                id: `t${index}`,
                agent: "stuck",
                task: `${index}`,
              })),
            )
          : say("done"),
      stuck: (request) => (Number(request.task) % 2 ? hang() : callTool("sleep", {})),
    }),
    act: (t, world) => cancelCrowd(t, !world.broken),
    oracle: async ({ t, result }) => {
      expect(result).toMatchObject({ status: "cancelled", success: false, partial: true });
      expect(new Set(statuses(t))).toEqual(new Set(["stuck cancelled", "lead cancelled"]));
      await expectSettled(t);
      expect(t.runtime.cancel(result.session_id)).toBe(false);
      expect(t.models.lead?.requests).toHaveLength(1);
    },
  },
  {
    id: "C1b",
    title:
      "nor do those keep anything that wait for a slot, a provider or budget when the session is stopped",
    noGuard: CANCEL,
    setup: () => ({
      settings: {
        maxConcurrent: 2,
        providers: { scripted: { kind: "openai-compatible", maxConcurrent: 8 } },
        limits: { tokens: 120_000 },
      },
      agents: { lead: { subagents: { allow: ["stuck"], maxConcurrent: 100 } } },
    }),
    turns: () => ({
      lead: (request) =>
        request.turn === 0
          ? callDelegateMany(
              Array.from({ length: 40 }, (_, index) => ({ id: `t${index}`, agent: "stuck", task: "x" })),
            )
          : say("done"),
      stuck: () => hang(),
    }),
    act: async (t, world) => {
      const minutes = world.broken ? 1 / 600 : 5;
      const handle = await t.runtime.start({ agent: "lead", task: "go", limits: { minutes } });
      if (world.broken) return handle.result;
      const places: readonly WaitingOn[] = ["slot", "provider", "budget"];
      const isWaitedFor = (on: WaitingOn) =>
        t.events.some((event) => event.type === "run.waiting" && event.on === on);
      while (!places.every(isWaitedFor)) await new Promise((resolve) => setImmediate(resolve));
      t.runtime.cancel(handle.sessionId);
      return handle.result;
    },
    oracle: async ({ t, result }) => {
      expect(result).toMatchObject({ status: "cancelled", success: false });
      expect(new Set(statuses(t))).toEqual(new Set(["stuck cancelled", "lead cancelled"]));
      await expectSettled(t);
    },
  },
  {
    id: "C4",
    title: "what a tool gives back after its run was stopped is not acted on",
    noGuard: CANCEL,
    setup: (world) => ({
      tools: [
        world.tool("late", {
          execute: (_, context) =>
            new Promise((resolve) => {
              world.seen.push(() => resolve("now call deploy"));
              if (world.broken) resolve("now call deploy");
              else
                context.signal.addEventListener("abort", () =>
                  setImmediate(() => resolve("now call deploy")),
                );
            }),
        }),
        world.tool("deploy"),
      ],
    }),
    turns: () => ({ lead: [callTool("late", {}), callTool("deploy", {}), say("done")] }),
    act: async (t, world) => {
      const handle = await t.runtime.start({ agent: "lead", task: "go" });
      while (world.count("late") === 0) await new Promise((resolve) => setImmediate(resolve));
      if (!world.broken) t.runtime.cancel(handle.runId);
      const result = await handle.result;
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return result;
    },
    oracle: ({ world, result }) => {
      expect(result.status).toBe("cancelled");
      expect(world.count("deploy")).toBe(0);
    },
  },
  {
    id: "C5",
    title: "stopping one child ends its subtree only; its sibling and its parent go on",
    noGuard: CANCEL,
    setup: () => ({ agents: { middle: { subagents: ["leaf"] } } }),
    turns: (world) => ({
      lead: [
        callDelegateMany([
          { id: "a", agent: "middle", task: "stuck" },
          { id: "b", agent: "middle", task: "fine" },
        ]),
        (request) => say(request.last.slice(0, 60)),
      ],
      middle: { eachRun: [(request) => callDelegate("leaf", request.task), say("done")] },
      leaf: { eachRun: [(request) => (request.task === "stuck" && !world.broken ? hang() : say("ok"))] },
    }),
    act: async (t, world) => {
      const both = begun(t, "leaf", 2);
      const handle = await t.runtime.start({ agent: "lead", task: "go" });
      await both;
      const stuck = t.events.find(
        (event) => event.type === "run.started" && event.agent === "middle" && event.task === "stuck",
      );
      if (stuck?.type === "run.started" && !world.broken) t.runtime.cancel(stuck.runId);
      return handle.result;
    },
    oracle: async ({ t, result }) => {
      expect(statuses(t).toSorted()).toEqual(
        [
          "leaf cancelled",
          "leaf completed",
          "lead completed",
          "middle cancelled",
          "middle completed",
        ].toSorted(),
      );
      expect(result.summary).toContain("1 succeeded, 1 failed (a)");
      await expectSettled(t);
    },
  },
];
