import { expect, test } from "vitest";
import { guardProvider, isServiceFault, ToolFault, toFault } from "./tool-fault.ts";

const provider = {
  kind: "example",
  calls: 0,
  async get(id: string, _signal: AbortSignal): Promise<string> {
    this.calls++;
    if (id === "odd") throw new TypeError("no such field");
    if (id === "gone") throw new ToolFault("params", "there is no such thing");
    return `the thing ${id}`;
  },
};
const { signal } = new AbortController();

test("a guarded provider answers as before, and what it throws is a fault", async () => {
  const guarded = guardProvider(provider, "the answer could not be read");
  expect(guarded.kind).toBe("example");
  expect(await guarded.get("1", signal)).toBe("the thing 1");
  await expect(guarded.get("odd", signal)).rejects.toMatchObject({
    name: "ToolFault",
    type: "tool_error",
    message: "the answer could not be read: no such field",
  });
  await expect(guarded.get("gone", signal)).rejects.toMatchObject({ type: "params" });
});

test("a guarded provider begins nothing for a call that was stopped", async () => {
  const before = provider.calls;
  const call = guardProvider(provider, "it failed").get("1", AbortSignal.abort());
  await expect(call).rejects.toMatchObject({ type: "network", message: "the call was stopped" });
  expect(provider.calls).toBe(before);
});

test("faults that a sign-in or a later attempt can fix are recoverable, others are not", () => {
  const types = ["auth", "network", "rate_limit", "params", "permission", "tool_error"] as const;
  expect(types.filter((type) => new ToolFault(type, "?").recoverable)).toEqual(types.slice(0, 3));
  expect(isServiceFault(toFault(new Error("x")), "tool_error")).toBe(true);
  expect(isServiceFault(new Error("x"), "tool_error")).toBe(false);
});
