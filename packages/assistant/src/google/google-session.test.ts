import { expect, test } from "vitest";
import { findRetryAfter, toGoogleFault } from "./google-session.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const request = {
  about: "message 'm1'",
  signal: new AbortController().signal,
  clean: (text: string) => text.replaceAll("token-1", "[secret]"),
};
const answered = (status: number, data: unknown) => ({ config: {}, response: { status, headers: {}, data } });

test.each([
  ["7", "", 7_000],
  ["Mon, 16 Nov 2026 12:00:30 GMT", "", 30_000],
  ["Mon, 16 Nov 2026 11:00:00 GMT", "", 0],
  [undefined, "User-rate limit exceeded. Retry after 2026-11-16T12:01:00.000Z", 60_000],
  ["soon", "", undefined],
  ["-5", "", undefined],
  [undefined, "", undefined],
])("Retry-After %j with message %j means %j ms", (header, message, expected) => {
  expect(findRetryAfter(header, message, NOW)).toBe(expected);
});

test("a refusal because a scope is missing says how to get it", () => {
  const data = {
    error: { code: 403, message: "no", details: [{ reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }] },
  };
  const fault = toGoogleFault(answered(403, data), request);
  expect(fault).toMatchObject({
    type: "permission",
    message: expect.stringContaining("retinue accounts add google"),
  });
});

test("what the service says is shortened to one line without secrets, and the request is not kept", () => {
  const message = `line one\r\nwith token-1 ${"x".repeat(1_000)}`;
  const fault = toGoogleFault(answered(400, { error: { message } }), request);
  expect(fault.message).toMatch(
    /^Google did not accept the request for message 'm1': line one with \[secret\] x+…$/,
  );
  expect(fault.message.length).toBeLessThan(400);
  expect(fault.cause).toBeUndefined();
});

test.each([
  [answered(502, "<html>Bad gateway</html>"), "network"],
  [answered(404, {}), "params"],
  [answered(413, null), "params"],
  [answered(429, undefined), "rate_limit"],
  [answered(302, ""), "tool_error"],
  [{ config: {}, message: "socket hang up", code: "ECONNRESET" }, "network"],
  [new TypeError("x is not a function"), "tool_error"],
  ["a string", "tool_error"],
  [null, "tool_error"],
])("%j is a fault of type %s", (thrown, type) => {
  expect(toGoogleFault(thrown, request).type).toBe(type);
});
