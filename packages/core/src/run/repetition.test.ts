import { expect, test } from "vitest";
import { defineTool } from "../tools/tool.ts";
import { countRepeats, isRepeating, type Repetition } from "./repetition.ts";

const call = (tool: string, input: string) => ({ callId: "c", tool, input });
const start = (): Repetition => ({ last: "", count: 0 });

test("the same calls are warned of at the third time in a row and stopped at the fifth", () => {
  const seen = start();
  const times = Array.from({ length: 6 }, () => isRepeating(seen, [call("read", '{"path":"a"}')]));
  expect(times).toEqual(["no", "no", "warn", "warn", "stop", "stop"]);
});

test("other calls in between begin the count anew", () => {
  const seen = start();
  const inputs = ["a", "a", "b", "a", "a", "a"];
  expect(inputs.map((input) => isRepeating(seen, [call("read", `{"path":"${input}"}`)]))).toEqual([
    ...["no", "no", "no", "no", "no", "warn"],
  ]);
});

test("calls are the same in another order and with other white space, not with another tool or input", () => {
  const repeats = (...turns: ReturnType<typeof call>[][]) => {
    const seen = start();
    for (const calls of turns) isRepeating(seen, calls);
    return seen.count;
  };
  const [one, two] = [call("read", '{"path":"a"}'), call("grep", "not json")];
  expect(repeats([one, two], [two, call("read", '{ "path" : "a" }')])).toBe(2);
  expect(repeats([one], [call("grep", one.input)])).toBe(1);
  expect(repeats([one], [one, one])).toBe(1);
});

test("only turns that do nothing but poll are no repetition", () => {
  const tool = (name: string, polls: boolean) =>
    defineTool<object>({ name, polls, description: "", input: { type: "object" }, execute: async () => "" });
  const tools = new Map([
    ["poll", tool("poll", true)],
    ["read", tool("read", false)],
  ]);
  const last = (...names: string[]) => {
    const run = { tools, repetition: start() };
    const calls = names.map((name) => call(name, "{}"));
    return Array.from({ length: 5 }, () => countRepeats(run, calls, { isRepeating })).at(-1);
  };
  expect([last("poll"), last("poll", "poll"), last("poll", "read")]).toEqual(["no", "no", "stop"]);
});
