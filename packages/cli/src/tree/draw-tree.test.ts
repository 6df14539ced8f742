import type { RetinueEvent } from "@retinue/core/schema/event";
import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { arbitraryEvent } from "../../../../test/fixtures/arbitrary-event.ts";
import { called, ended, failed, started, turned } from "../../../../test/fixtures/run-events.ts";
import { createPaint } from "./canvas.ts";
import { drawTree, type TreeDrawing } from "./draw-tree.ts";
import { createRunTree } from "./run-tree.ts";

function draw(events: readonly RetinueEvent[], drawing: Partial<TreeDrawing> = {}): string[] {
  const tree = createRunTree();
  for (const event of events) tree.take(event);
  return drawTree(tree, { width: 80, height: 20, nowMs: 12_300, ...drawing }).map((row) => row.text);
}

const AT = { sessionId: "ses_1", atMs: 0 };
const waits = (runId: string, on: "children" | "approval" | "slot"): RetinueEvent => ({
  ...AT,
  type: "run.waiting",
  runId,
  on,
});

test("each run is a line with icon, name, task, tool, elapsed, tokens, cost and status, below its parent", () => {
  const lines = draw([
    started("main", null, { icon: "🎩", task: "look around" }),
    waits("main", "children"),
    started("scout", "main", { icon: "🔍", task: "find it" }),
    started("digger", "scout", { task: "dig" }),
    called("digger", "1", "grep", { pattern: "x" }),
    turned("digger"),
    started("cook", "main", { task: "cook" }),
  ]);
  expect(lines).toEqual([
    "🎩 main  look around                             12s    15   $0.01  ⏸  waiting",
    "├─ 🔍 scout  find it                             12s    15   $0.01  ⏳ running",
    "│  └─ digger  dig  → grep x                      12s    15   $0.01  ⏳ running",
    "└─ cook  cook                                    12s                ⏳ running",
  ]);
});

test("what has ended is one line that counts its sub-agents", () => {
  const lines = draw([
    started("main"),
    started("a", "main", { task: "" }),
    ...["x", "y", "z"].map((id) => started(id, "a")),
    ended("x"),
    failed("y", "no"),
    ended("z"),
    ended("a", {}, 12_000),
  ]);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^└─ a {2}· 3 sub-agents, 1 failed +12\.0s +\d+ +\$0\.04 {2}✅ completed$/);
});

test("a failed run says why while the run above it continues", () => {
  const [, line] = draw([
    started("main"),
    started("a", "main", { task: "t" }),
    failed("a", "the disk is full"),
  ]);
  expect(line).toMatch(/^└─ a {2}t {2}· the disk is full .*❌ failed$/);
});

test("runs that do not fit are counted, and those that ask or failed are never left out", () => {
  const ids = Array.from({ length: 30 }, (_, index) => `r${index}`);
  const lines = draw(
    [
      started("main"),
      ...ids.map((id) => started(id, "main")),
      failed("r20", "broken"),
      waits("r25", "approval"),
      waits("r29", "slot"),
      ended("r3"),
    ],
    { height: 8 },
  );
  expect(lines).toHaveLength(8);
  expect(lines.join("\n")).toContain("broken");
  expect(lines.join("\n")).toContain("for your approval");
  expect(lines.at(-1)).toBe("… 22 more running, 1 waiting, 1 completed");
});

test("thousands of ended runs are counted although the tree no longer holds them", () => {
  const tree = createRunTree({ maxNodes: 5 });
  tree.take(started("main"));
  for (let index = 0; index < 1_200; index++) {
    tree.take(started(`r${index}`, "main"));
    tree.take(ended(`r${index}`));
  }
  const rows = drawTree(tree, { width: 80, height: 4, nowMs: 0 });
  expect(rows.at(-1)).toEqual({ text: "… 1,198 more completed", runId: null });
});

test("without a UTF-8 locale everything is ASCII", () => {
  const events = [
    started("main", null, { icon: "🎩", task: "調べる" }),
    started("b", "main"),
    called("b", "1", "read", { path: "é" }),
    started("c", "main"),
    failed("c", "…"),
  ];
  const text = draw(events, { unicode: false }).join("\n");
  expect(text).toMatch(/^[\x20-\x7e\n]+$/);
  expect(text).toContain("|- b  the task of b  > read ?");
  expect(text).toContain("x failed");
});

test("a narrow terminal keeps the status longest", () => {
  const events = [started("main", null, { task: "something long that will not fit" }), turned("main")];
  expect(draw(events, { width: 50 })[0]).toMatch(/^main {2}something.*… +12s +⏳ running$/);
  expect(draw(events, { width: 10 })).toEqual(["⏳ running"]);
});

test("colours change no width", () => {
  const events = [started("main"), started("b", "main"), failed("b", "no")];
  const coloured = draw(events, { paint: createPaint(true) });
  expect(coloured.join("\n")).toContain("\u001b[31m");
  expect(coloured.map((line) => stringWidth(line))).toEqual(draw(events).map((line) => stringWidth(line)));
});

test("no line is ever wider than the terminal, nor are there more than it has", () => {
  const size = fc.record({
    width: fc.integer({ min: 1, max: 200 }),
    height: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(arbitraryEvent, { maxLength: 40 }), size, fc.boolean(), (events, asked, unicode) => {
      const lines = draw(events, { ...asked, unicode, paint: createPaint(true) });
      expect(lines.length).toBeLessThanOrEqual(asked.height);
      for (const line of lines) {
        expect(stringWidth(line)).toBeLessThanOrEqual(asked.width);
        expect(line).not.toMatch(/[\n\r\t]/);
      }
    }),
    { numRuns: process.env.RETINUE_DEEP ? 20_000 : 500 },
  );
});
