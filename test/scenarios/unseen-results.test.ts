import type { ScriptRequest, StepMaker } from "@retinue/core/testing";
import { callDelegate, callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { toolResults } from "../fixtures/tool-results.ts";

const lines = (name: string, count: number) =>
  Array.from(
    { length: count },
    (_, index) => `${name} line ${index + 1} of a long module, as there are many`,
  );
/** Files of about 27 KB. */
const MODULES = Object.fromEntries(
  ["a", "b", "c"].map((name) => [`src/${name}.js`, `${lines(name, 560).join("\n")}\n`]),
);
const reads = (...names: string[]) =>
  callTools(names.map((name) => ({ tool: "read", input: { path: `src/${name}.js` } })));
const isSummary = (request: ScriptRequest) => (request.options.tools ?? []).length === 0;

test("a coder that reads two long files beside an earlier one gets both whole, and the earlier one goes", async () => {
  const steps = [reads("c"), reads("a", "b"), say("read")];
  await using t = await builtInRuntime(MODULES, {
    main: [callDelegate("coder", "read them"), say("done")],
    coder: (request) => (isSummary(request) ? say("c was read") : (steps.shift() ?? say("too often"))),
  });
  await t.runtime.run({ agent: "main", task: "go" });
  const seen = toolResults(t.models.coder, -1);
  expect(seen).toHaveLength(2);
  for (const [index, name] of ["a", "b"].entries())
    expect(seen[index]?.split("\n").map((line) => line.split("\t")[1])).toEqual(lines(name, 560));
  const last = JSON.stringify(t.models.coder?.requests.at(-1)?.prompt);
  expect(last).toContain("c was read");
  expect(last).not.toContain("c line 7 of");
});

test("of results that do not fit beside the task a reviewer sees as much as there is room for, and how to read on", async () => {
  const steps: StepMaker[] = [
    reads("a", "b"),
    ({ last }) => {
      const offset = Number(/read on with offset (\d+)/.exec(last)?.[1]);
      return callTool("read", { path: "src/a.js", offset, limit: 1 });
    },
    say("read"),
  ];
  await using t = await builtInRuntime(MODULES, {
    main: [callDelegate("reviewer", "read them"), say("done")],
    reviewer: (request) => {
      const step = isSummary(request) ? say("a and b were read") : (steps.shift() ?? say("too often"));
      return typeof step === "function" ? step(request) : step;
    },
  });
  await t.runtime.run({ agent: "main", task: "go" });
  const [a = "", b = ""] = toolResults(t.models.reviewer, 1);
  const shown = a.length + b.length;
  const system = t.models.reviewer?.requests[1]?.prompt[0]?.content.length ?? 0;
  expect(shown + system).toBeGreaterThan(48_000);
  expect(shown + system).toBeLessThanOrEqual(50_000);
  const next = Number(/read on with offset (\d+)\]$/.exec(a)?.[1]);
  expect(a.split("\n").at(-2)).toBe(`${next - 1}\ta line ${next - 1} of a long module, as there are many`);
  const [on = ""] = toolResults(t.models.reviewer, -1);
  expect(on).toContain(`${next}\ta line ${next} of`);
});

test("a file longer than one result is read on where the result ends", async () => {
  const long = { "src/long.js": `${lines("long", 900).join("\n")}\n` };
  await using t = await builtInRuntime(long, {
    main: [
      callTool("read", { path: "src/long.js" }),
      (request) =>
        callTool("read", { path: "src/long.js", offset: Number(/offset (\d+)/.exec(request.last)?.[1]) }),
      say("read"),
    ],
  });
  await t.runtime.run({ agent: "main", task: "go" });
  const [first = ""] = toolResults(t.models.main, 1);
  const [second = ""] = toolResults(t.models.main, 2);
  const numbers = `${first}\n${second}`.match(/^\d+(?=\t)/gm) ?? [];
  expect(first.length).toBeLessThanOrEqual(30_000);
  expect(numbers.map(Number)).toEqual(Array.from({ length: 900 }, (_, index) => index + 1));
});

test("before an unseen result is shortened, what the model itself wrote is", async () => {
  const note = defineTool<{ text: string }>({
    name: "note",
    description: "note",
    risk: "low",
    replay: "safe",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: async () => "r".repeat(6_000),
  });
  const { runtime, models, close } = testRuntime(
    { lead: [callTool("note", { text: "w".repeat(8_000) }), say("done")] },
    { tools: [note], agents: { lead: { limits: { contextChars: 10_000 } } } },
  );
  await runtime.run({ agent: "lead", task: "go" });
  expect(toolResults(models.lead, 1)).toEqual(["r".repeat(6_000)]);
  const request = JSON.stringify(models.lead?.requests[1]?.prompt);
  expect(request.length).toBeLessThan(10_500);
  expect(request).toContain("left out to make room");
  await close();
});
