import type { RetinueEvent } from "@retinue/core/schema/event";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryEvent } from "../../../../test/fixtures/arbitrary-event.ts";
import { called, ended, failed, started, turned } from "../../../../test/fixtures/run-events.ts";
import { createRunTree, isFailed, isLive, type RunNode } from "./run-tree.ts";

function growTree(...events: RetinueEvent[]) {
  const tree = createRunTree();
  for (const event of events) tree.take(event);
  return tree;
}

const AT = { sessionId: "ses_1", atMs: 0 };

test("a run is below the run that began it, and every run above counts it", () => {
  const tree = growTree(started("a"), started("b", "a"), started("c", "b"), failed("c", "no"), ended("b"));
  expect(tree.roots.map((node) => node.runId)).toEqual(["a"]);
  expect(tree.node("b")?.children.map((node) => node.runId)).toEqual(["c"]);
  expect(tree.node("a")?.below).toMatchObject({ runs: 2, live: 0, failed: 1 });
  expect(tree.node("c")).toMatchObject({ status: "failed", error: "no", endedAtMs: 1_000 });
});

test("tokens and cost are those of the whole subtree, while it runs and as the host measured it in the end", () => {
  const tree = growTree(started("a"), started("b", "a"), turned("a"), turned("b"));
  expect(tree.node("a")).toMatchObject({ tokens: 30, costUsd: 0.02 });
  tree.take(ended("b", { tokens: { self: 40, subtree: 40 }, cost_usd: { self: 0.5, subtree: 0.5 } }));
  expect(tree.node("a")).toMatchObject({ tokens: 55, costUsd: 0.51 });
});

test("one unknown price makes the cost of everything above unknown", () => {
  const tree = growTree(started("a"), started("b", "a"), turned("a"), turned("b", null));
  expect([tree.node("a")?.costUsd, tree.node("b")?.costUsd]).toEqual([null, null]);
});

test("the tool of a run is the latest of its calls that is still open", () => {
  const tree = growTree(
    started("a"),
    called("a", "1", "read", { path: "x.ts" }),
    called("a", "2", "grep", { pattern: "TODO", path: "src" }),
  );
  expect(tree.node("a")?.currentTool).toEqual({ name: "grep", input: "TODO src", progress: "" });
  const end = { ...AT, type: "call.ended", runId: "a", messageId: 1, outcome: "ok", summary: "" } as const;
  tree.take({ ...end, callId: "2", tool: "grep", durationMs: 1 });
  expect(tree.node("a")?.currentTool?.name).toBe("read");
  tree.take(ended("a"));
  expect(tree.node("a")).toMatchObject({ currentTool: null });
});

test("waiting is shown apart from running, and partial apart from completed", () => {
  const tree = growTree(started("a"), { ...AT, type: "run.waiting", runId: "a", on: "slot" });
  expect(tree.node("a")).toMatchObject({ status: "waiting", waitingOn: "slot" });
  tree.take({ ...AT, type: "run.waiting", runId: "a", on: null });
  expect(tree.node("a")?.status).toBe("running");
  tree.take(ended("a", { partial: true }));
  expect(tree.node("a")?.status).toBe("partial");
});

test("streamed text changes only that the run is shown as writing", () => {
  const tree = growTree(started("a"), {
    ...AT,
    type: "turn.started",
    runId: "a",
    turn: 1,
    messageId: 1,
    model: "m",
  });
  const write = { ...AT, type: "text.streamed", runId: "a", turn: 1, text: "x" } as const;
  tree.take(write);
  const { version } = tree;
  tree.take(write);
  expect([tree.node("a")?.activity, tree.version - version]).toEqual(["writing", 0]);
});

test("what a model says cannot steer the terminal", () => {
  const evil = "a\u001b[2Jb\r\nc\u202e";
  const tree = growTree(
    started("a", null, { task: evil, displayName: evil }),
    called("a", "1", evil, { x: evil }),
  );
  const { task, displayName, currentTool } = tree.node("a") ?? {};
  expect([task, displayName, currentTool?.name, currentTool?.input]).toEqual([
    "ab c",
    "ab c",
    "ab c",
    "ab c",
  ]);
});

test("a run that goes on after a crash starts again in place", () => {
  const tree = growTree(started("a"), started("b", "a"), failed("b", "gone"), started("b", "a"));
  expect(tree.node("b")).toMatchObject({ status: "running", error: null });
  expect(tree.node("a")?.below).toMatchObject({ runs: 1, live: 1, failed: 0 });
});

test("a child whose start arrives before its parent's is put below it later", () => {
  const tree = growTree(started("b", "a"), turned("b"), started("a"));
  expect(tree.roots.map((node) => node.runId)).toEqual(["a"]);
  expect(tree.node("a")?.tokens).toBe(15);
});

test("beyond its limit the tree drops the runs that ended first, failures last, and still counts them", () => {
  const tree = createRunTree({ maxNodes: 100 });
  tree.take(started("root"));
  for (let index = 0; index < 5_000; index++) {
    tree.take(started(`r${index}`, "root"));
    tree.take(index === 7 ? failed("r7", "no") : ended(`r${index}`));
  }
  const root = tree.node("root");
  expect(root?.children).toHaveLength(99);
  expect(root?.below).toMatchObject({ runs: 5_000, live: 0, failed: 1 });
  expect(root?.tokens).toBe(75_000);
  expect(tree.node("r7")?.status).toBe("failed");
  expect([tree.node("r4999")?.status, tree.node("r8")]).toEqual(["completed", undefined]);
});

test("beyond its limit of live runs the tree takes no more", () => {
  const tree = createRunTree({ maxNodes: 10 });
  for (let index = 0; index < 50; index++) tree.take(started(`r${index}`));
  expect(tree.roots).toHaveLength(10);
});

test("events in any order never throw, and the counts are always those of the tree", () => {
  fc.assert(
    fc.property(fc.array(arbitraryEvent, { maxLength: 60 }), (events) => {
      const tree = growTree(...events);
      const seen = tree.roots.flatMap(check);
      expect(new Set(seen).size).toBe(seen.length);
    }),
    { numRuns: process.env.RETINUE_DEEP ? 20_000 : 400 },
  );
});

/** All ids of a subtree; fails if a count is wrong. */
function check(node: RunNode): string[] {
  const below = node.children.flatMap(all);
  expect(node.below).toMatchObject({
    runs: below.length,
    live: below.filter(isLive).length,
    failed: below.filter(isFailed).length,
  });
  return [node.runId, ...node.children.flatMap(check)];
}

function all(node: RunNode): RunNode[] {
  return [node, ...node.children.flatMap(all)];
}
