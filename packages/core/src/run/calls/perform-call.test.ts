import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../../test/fixtures/hand-made-run.ts";
import type { Layer, Target } from "../../schema/rights.ts";
import { defineTool, type Spawner, type ToolContext, type ToolDefinition } from "../../tools/tool.ts";
import type { ChildRuns } from "../run.ts";
import { chainOf, performCall } from "./perform-call.ts";

const path = (relative: string, mode: "read" | "write" = "read"): Target => ({
  ...{ kind: "path", path: `/project/${relative}`, root: "project", relative, mode },
});
const layer = (allow: string[], more: Partial<Layer> = {}): Layer => ({
  ...{ name: "own", ask: [], deny: [] },
  allow: allow.map((tool) => ({ text: tool, tool })),
  ...more,
});

/** Performs a call of a tool that does this. */
async function perform(
  execute: ToolDefinition<unknown>["execute"],
  {
    tool = {},
    approvedBy,
    ...parts
  }: RunParts & { tool?: Partial<ToolDefinition<unknown>>; approvedBy?: string } = {},
) {
  const made = makeRun(parts);
  const work = defineTool<unknown>({
    name: "work",
    description: "",
    input: { type: "object" },
    execute,
    ...tool,
  });
  const tainted: string[] = [];
  const performed = await performCall(
    made.run,
    { callId: "c1", tool: "work", input: "{}" },
    {
      ...{ tool: work, input: {}, targets: [], carrying: [], rowId: 1 },
      ...(approvedBy !== undefined && { approvedBy }),
      refuse: async () => null,
      taint: () => tainted.push("child"),
    },
  );
  return { ...made, ...performed, tainted };
}

test("the intent of a call that must not run twice is on disk before it begins", async () => {
  const order: string[] = [];
  const disk = Promise.withResolvers<void>();
  const journal = { open: () => 1, close: () => {}, committed: () => disk.promise };
  const act = async () => {
    order.push("acts");
    return "";
  };
  const unsafe = perform(act, { tool: { replay: "never" }, session: { journal } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  order.push("on disk");
  disk.resolve();
  await unsafe;
  expect(order).toEqual(["on disk", "acts"]);
  const never = { ...journal, committed: () => new Promise<void>(() => {}) };
  await perform(act, { tool: { replay: "safe" }, session: { journal: never } });
  expect(order).toHaveLength(3);
});

test("a run that was stopped begins no call, and does not wait for one that goes on", async () => {
  const begun: string[] = [];
  const stop = { status: "cancelled", bailout: "cancelled", message: "stopped" } as const;
  const { run } = makeRun();
  run.interrupt(stop);
  const work = defineTool<unknown>({
    ...{ name: "work", description: "", input: { type: "object" }, replay: "safe" },
    execute: async () => {
      begun.push("work");
      return new Promise<string>(() => {});
    },
  });
  const parts = {
    tool: work,
    input: {},
    targets: [],
    carrying: [],
    rowId: 1,
    refuse: async () => null,
    taint: () => {},
  };
  const call = { callId: "c1", tool: "work", input: "{}" };
  const { output } = await performCall(run, call, parts);
  expect([begun, output.isError]).toEqual([[], true]);
  const other = makeRun().run;
  const going = performCall(other, call, parts);
  await Promise.resolve();
  other.interrupt(stop);
  expect((await going).output).toMatchObject({ isError: true });
  expect(begun).toEqual(["work"]);
});

test("changes that a stopped call is making are waited for, but not for ever", async () => {
  const ended: string[] = [];
  const closing = Promise.withResolvers<void>();
  const keepChanges = () => ({
    ...{
      busy: true,
      beforeChange: async () => {},
      aroundChanges: <Value>(work: () => Promise<Value>) => work(),
    },
    end: async () => {
      await closing.promise;
      ended.push("books closed");
      return [];
    },
  });
  const made = makeRun({ host: { keepChanges } });
  const work = defineTool<unknown>({
    ...{ name: "work", description: "", input: { type: "object" }, replay: "safe" },
    execute: async () => "",
  });
  const parts = {
    tool: work,
    input: {},
    targets: [],
    carrying: [],
    rowId: 1,
    refuse: async () => null,
    taint: () => {},
  };
  const start = () => performCall(made.run, { callId: "c1", tool: "work", input: "{}" }, parts);
  const going = start().then(() => ended.push("call"));
  await new Promise((resolve) => setImmediate(resolve));
  made.run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toEqual([]);
  made.clock.advance(10_000);
  await going;
  expect(ended).toEqual(["call"]);
  closing.resolve();
});

test("what a call changed is its run's, claims the file, and is told to the record", async () => {
  const { run, effects } = await perform(async (_, context) => {
    context.changed("/project/a.txt", "created");
    context.tested("unit", { run: 2, passed: 1 });
    return "";
  });
  expect([...run.changes]).toEqual([["/project/a.txt", "created"]]);
  expect(run.session.claims.get("/project/a.txt")?.line).toEqual(["run_root"]);
  expect(effects).toMatchObject({
    files: [["/project/a.txt", "created"]],
    tests: [{ suite: "unit", passed: 1 }],
  });
  expect(run.tests.get("unit")).toMatchObject({ run: 2, runs: 1 });
});

test("progress is shown without secrets", async () => {
  const { events } = await perform(async (_, context) => {
    context.progress(`half of ${KNOWN_SECRET}`);
    return "";
  });
  expect(events).toMatchObject([{ type: "call.progressed", message: "half of [redacted:secret]" }]);
});

test("what a tainted run changes is untrusted from before the change; of a command that is not all that is known", async () => {
  const noted: unknown[] = [];
  const untrusted = {
    begin: async () => {
      noted.push("begun");
      return async (changed: Iterable<string>, isAllKnown: boolean) =>
        void noted.push([[...changed], isAllKnown]);
    },
  };
  const change = async (_: unknown, context: ToolContext) => {
    await context.beforeChange("/project/a");
    noted.push("changes");
    context.changed("/project/a", "modified");
    return "";
  };
  await perform(change, { untrusted, tainted: true });
  expect(noted.splice(0)).toEqual(["begun", "changes", [["/project/a"], true]]);
  await perform((_, context) => context.aroundChanges(async () => ""), { untrusted, tainted: true });
  expect(noted.splice(0)).toEqual(["begun", [[], false]]);
  await perform(change, { untrusted });
  expect(noted).toEqual(["changes"]);
});

test("what a call wrote before its own output tainted the run is untrusted as well", async () => {
  const write = async (_: unknown, context: ToolContext) => {
    context.changed("/project/a", "created");
    return "";
  };
  for (const untrustedTool of [true, false]) {
    const noted: string[] = [];
    const note = async (_: unknown, paths: Iterable<string>) => void noted.push(...paths);
    await perform(write, { untrusted: { note }, tool: { untrusted: untrustedTool } });
    expect(noted).toEqual(untrustedTool ? ["/project/a"] : []);
  }
});

test("a search that shows an untrusted file taints, and so does a child that brought untrusted text, also in a failed call", async () => {
  const show = async (_: unknown, paths: Iterable<string>) => [...paths].includes("/project/a");
  const look = async (_: unknown, { maySee }: ToolContext) => String(maySee(path("a")));
  expect((await perform(look, { untrusted: { show } })).output).toMatchObject({
    text: "true",
    tainted: true,
  });
  const lead = async () => {
    throw new Error("the program failed");
  };
  const made = makeRun();
  const createSpawner: ChildRuns["createSpawner"] = (below) => {
    below.onTainted();
    return {} as Partial<Spawner> as Spawner;
  };
  made.run.children = { createSpawner } as Partial<ChildRuns> as ChildRuns;
  const program = defineTool<unknown>({
    ...{
      name: "work",
      description: "",
      input: { type: "object" },
      delegates: "program",
      replay: "safe",
      execute: lead,
    },
  });
  const tainted: string[] = [];
  const { output } = await performCall(
    made.run,
    { callId: "c1", tool: "work", input: "{}" },
    {
      ...{ tool: program, input: {}, targets: [], carrying: [], rowId: 1, refuse: async () => null },
      taint: () => tainted.push("run"),
    },
  );
  expect([output, tainted]).toMatchObject([{ isError: true, tainted: true }, ["run"]]);
});

test("a tool sees and writes only what its run may, as far as a person has not answered for every call of it", async () => {
  const look = async (_: unknown, { maySee, mayWrite }: ToolContext) =>
    [maySee(path("a")), mayWrite(path("a", "write"))].join(" ");
  const seen = async (chain: Layer[], approvedBy?: string) =>
    (await perform(look, { chain, ...(approvedBy !== undefined && { approvedBy }) })).output.text;
  const read = { text: "read(a)", tool: "read", pattern: "a" };
  expect(await seen([layer(["work", "read", "write"])])).toBe("true true");
  expect(await seen([layer(["work", "read"])])).toBe("true false");
  expect(await seen([layer(["work", "read", "write"], { deny: [read] })])).toBe("false true");
  const write = { text: "write", tool: "write" };
  expect(await seen([layer(["work", "read"], { ask: [write] })])).toBe("true false");
  const asking = [layer(["read"], { ask: [{ text: "work", tool: "work" }] })];
  expect([await seen(asking), await seen(asking, "ada")]).toEqual(["false false", "true false"]);
});

test("rights that were taken away bind at the next call, and where they depend on what it writes they are told that", () => {
  const revoked: Layer = { name: "revoked", ask: [], deny: [{ text: "work", tool: "work" }] };
  const asked: (readonly string[])[] = [];
  const liveLayers = (_: string, writes: readonly string[]) => {
    asked.push(writes);
    return [revoked];
  };
  const { run } = makeRun({ host: { liveLayers } });
  expect(chainOf(run, [path("a"), path("b", "write")]).at(-1)).toBe(revoked);
  expect(asked).toEqual([["/project/b"]]);
  expect(chainOf(makeRun().run, [])).toHaveLength(1);
});
