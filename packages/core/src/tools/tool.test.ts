import { expect, test } from "vitest";
import { defineTool, isLasting, isOffered, onlyReads, type ToolDefinition, writesFiles } from "./tool.ts";

const tool = (more: Partial<ToolDefinition<unknown>> = {}) =>
  defineTool<unknown>({
    name: "made",
    description: "Does something.",
    input: { type: "object" },
    execute: async () => "",
    ...more,
  });
const reading = { risk: "low", replay: "safe" } as const;

test("a tool that says nothing of itself is never repeated, of medium risk, private, and stays inside", () => {
  expect(tool()).toMatchObject({
    risk: "medium",
    replay: "never",
    isPublic: false,
    untrusted: false,
    outbound: false,
    delegates: false,
  });
  expect([onlyReads(tool()), isLasting(tool(), {})]).toEqual([false, false]);
});

test("a name begins with a letter and has at most 64 letters, digits, _ and -", () => {
  expect(tool({ name: `a${"b".repeat(63)}` }).name).toHaveLength(64);
  for (const name of ["", "1a", "_a", "a.b", "a b", "ä", `a${"b".repeat(64)}`])
    expect(() => tool({ name })).toThrow(/tool name/);
});

test("only a tool of low risk that may run again and stays inside only reads", () => {
  expect(onlyReads(tool(reading))).toBe(true);
  for (const more of [{ risk: "medium" }, { replay: "never" }, { outbound: true }] as const)
    expect(onlyReads(tool({ ...reading, ...more }))).toBe(false);
  expect(onlyReads(tool({ ...reading, outbound: () => false }))).toBe(false);
});

test("writers of files are those that neither only read, run programs, delegate nor act outside", () => {
  expect(writesFiles(tool())).toBe(true);
  for (const more of [
    reading,
    { groups: ["shell"] },
    { groups: ["test"] },
    { delegates: "recorded" },
    { outbound: true },
    { replay: "lookup" },
  ] as const)
    expect(writesFiles(tool(more))).toBe(false);
});

test("a call lasts that acts outside or that only the outside can be asked about", () => {
  const partly = tool({ outbound: (input) => input === "send" });
  expect([isLasting(partly, "send"), isLasting(partly, "draft")]).toEqual([true, false]);
  expect([isLasting(tool({ replay: "lookup" }), {}), isLasting(tool({ outbound: true }), {})]).toEqual([
    true,
    true,
  ]);
});

test("a model is told of a tool under its own name only, and of none that is not offered now", () => {
  let isOn = false;
  const switched = tool({ offered: () => isOn });
  expect([isOffered("made", tool()), isOffered("alias", tool())]).toEqual([true, false]);
  expect([isOffered("made", tool({ offered: false })), isOffered("made", switched)]).toEqual([false, false]);
  isOn = true;
  expect(isOffered("made", switched)).toBe(true);
});
