import { expect, test } from "vitest";
import { faultOf, faultOfRun } from "./call-fault.ts";

const own = (error: object) => JSON.stringify({ error });

test.each([
  ["permission denied: no rule allows it", "permission", true],
  ["'send' needs approval (it acts outside), and ada did not give it", "permission", true],
  ["invalid input for 'send': to is missing", "params", false],
  ["it is not known whether 'send' took effect: the process ended", "tool_error", true],
  ["'send' failed: no network", "tool_error", false],
] as const)("%j is a fault of kind %s, final: %s", (text, type, final) => {
  expect(faultOf("send", text)).toEqual({ type, message: text, tool: "send", recoverable: false, final });
});

test("a tool's own words on its fault are believed, as far as they are well formed", () => {
  const told = faultOf("send", own({ type: "rate_limit", message: "slow down", recoverable: true }));
  expect(told).toEqual({
    type: "rate_limit",
    message: "slow down",
    tool: "send",
    recoverable: true,
    final: true,
  });
  expect(faultOf("send", own({ type: "params", message: "no" }))).toMatchObject({
    recoverable: false,
    final: false,
  });
  for (const error of [{ type: "invented", message: "x" }, { type: "auth" }, { type: 5, message: "x" }])
    expect(faultOf("send", own(error))).toMatchObject({ type: "tool_error", final: false });
});

test("a failure of the run itself is the model's, in the words of a response", () => {
  const fault = (type: "timeout" | "overloaded" | "not_allowed" | "budget") =>
    faultOfRun({ type, message: "x", recoverable: false });
  expect([
    fault("timeout").type,
    fault("overloaded").type,
    fault("not_allowed").type,
    fault("budget").type,
  ]).toEqual([...["network", "rate_limit", "permission", "tool_error"]]);
  expect(fault("timeout")).toMatchObject({ tool: "model", final: true });
  expect(faultOfRun({ type: "auth", message: "x", recoverable: false, tool: "mail" }).tool).toBe("mail");
});
