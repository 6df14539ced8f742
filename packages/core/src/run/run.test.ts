import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import type { Interruption } from "./run.ts";

const stop = (message: string): Interruption => ({ status: "cancelled", bailout: "cancelled", message });
const said = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });

test("the first reason that ends a run stays", () => {
  const { run } = makeRun();
  run.interrupt(stop("first"));
  run.interrupt(stop("second"));
  expect([run.interruption?.message, run.signal.aborted]).toEqual(["first", true]);
});

test("a stopped tree ends at every depth", () => {
  const { run } = makeRun();
  const child = makeRun({ parent: run, runId: "run_child" }).run;
  const grandchild = makeRun({ parent: child, runId: "run_grandchild" }).run;
  expect(grandchild.line).toEqual(["run_root", "run_child", "run_grandchild"]);
  run.interruptTree(stop("all"));
  expect(grandchild.interruption?.message).toBe("all");
});

test("a paused run goes on when it is resumed or ended, and one that has ended is not paused", async () => {
  const { run } = makeRun();
  run.pause();
  const first = run.paused?.promise;
  run.pause();
  expect(run.paused?.promise).toBe(first);
  run.paused?.resume();
  await first;
  expect(run.paused).toBeNull();
  run.pause();
  const second = run.paused?.promise;
  run.interrupt(stop("ended"));
  await second;
  run.pause();
  expect(run.paused).toBeNull();
});

test("another history is measured anew and recorded as a whole; taint and counters stay", () => {
  const { run } = makeRun({ tainted: true, task: "do it" });
  const [system, task] = [...run.history];
  if (!system || !task) throw new Error("there is no task");
  const sizes = [run.contextChars, run.contextBytes];
  run.pushUser("größer");
  run.toolCalls = 3;
  run.measured = { tokens: 500, bytes: 100 };
  run.replaceHistory([system, task]);
  expect([run.contextChars, run.contextBytes]).toEqual(sizes);
  expect(run.measured).toEqual({ tokens: 0, bytes: 0 });
  expect([run.historyReplaced, run.unrecorded, run.tainted, run.toolCalls]).toEqual([true, [], true, 3]);
  run.replaceHistory([system, said("do it"), said("an answer"), task, said("later")]);
  expect(run.begunAt).toBe(3);
});

test("a file that was made and deleted again is no change; other changes add up", () => {
  const { run } = makeRun();
  run.noteChange("a", "created");
  run.noteChange("a", "modified");
  run.noteChange("b", "created");
  run.noteChange("b", "deleted");
  run.noteChange("c", "modified");
  run.noteChange("c", "deleted");
  expect([...run.changes]).toEqual([
    ["a", "created"],
    ["c", "deleted"],
  ]);
});

test("of a suite of tests the last run counts, with how often it was run", () => {
  const { run } = makeRun();
  for (const passed of [1, 2]) run.noteTests({ suite: "unit", run: 2, passed, at_ms: passed });
  expect([...run.tests.values()]).toEqual([{ suite: "unit", run: 2, passed: 2, at_ms: 2, runs: 2 }]);
});

test("the size of a conversation is counted in characters and in bytes", () => {
  const { run } = makeRun({ task: "größer" });
  expect(run.contextBytes - run.contextChars).toBe(2);
});
