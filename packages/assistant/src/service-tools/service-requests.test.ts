import { createServer } from "node:http";
import { afterAll, expect, test } from "vitest";
import {
  createRenewal,
  fetchWhole,
  findStatusFault,
  isSafeUrl,
  mapLimited,
  parseRetryAfter,
} from "./service-requests.ts";
import { ToolFault } from "./tool-fault.ts";

const server = createServer((request, response) => {
  if (request.url === "/long") response.end("x".repeat(2_000));
  else if (request.url === "/busy") response.writeHead(503, { "retry-after": "7" }).end();
  else if (request.url === "/whole") response.end("whole");
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const address = server.address();
const origin = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const bounds = { timeoutMs: 5_000, maxBytes: 1_000, service: "Example", about: "the list" };
const ask = (path: string, more: Partial<typeof bounds> & { signal?: AbortSignal } = {}) =>
  fetchWhole(`${origin}${path}`, {}, { signal: new AbortController().signal, ...bounds, ...more });

test("an answer is read whole, and one that is too long, too late or not wanted any more is a fault", async () => {
  expect((await ask("/whole")).body.toString()).toBe("whole");
  await expect(ask("/long")).rejects.toMatchObject({ type: "tool_error", message: /too long/ });
  await expect(ask("/never", { timeoutMs: 30 })).rejects.toMatchObject({
    type: "network",
    message: "Example gave no answer to the list within 0.03 s",
  });
  await expect(ask("/whole", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    message: /cancelled/,
  });
});

test("a status means a fault, with the time that the service asks to wait", async () => {
  const { response } = await ask("/busy");
  expect(findStatusFault(response, "busy", 0)).toMatchObject({ type: "rate_limit", retryAfterMs: 7_000 });
  const types = [200, 302, 401, 403, 404, 408, 412, 429, 500, 503].map(
    (status) => findStatusFault(new Response(null, { status }), "?", 0)?.type,
  );
  expect(types).toEqual([
    ...[undefined, undefined, "auth", "permission", undefined],
    ...["network", undefined, "rate_limit", "network", "network"],
  ]);
});

test("Retry-After is read as seconds or as a date, and nothing else", () => {
  expect(parseRetryAfter("7", 0)).toBe(7_000);
  expect(parseRetryAfter("Thu, 01 Jan 1970 00:01:05 GMT", 60_000)).toBe(5_000);
  expect(parseRetryAfter("Thu, 01 Jan 1970 00:00:00 GMT", 60_000)).toBe(0);
  for (const header of ["soon", "-5", "0.5", "", null]) expect(parseRetryAfter(header, 0)).toBeUndefined();
});

test("secrets go over TLS or to this machine only", () => {
  const isSafe = (url: string) => isSafeUrl(new URL(url));
  expect(["https://a.example", "http://localhost:8", "http://127.0.0.1", "http://[::1]"].every(isSafe)).toBe(
    true,
  );
  expect(["http://a.example", "http://127.0.0.1.a.example", "ftp://localhost"].some(isSafe)).toBe(false);
});

test("a token is renewed once for all who wait, also when one of them stops waiting", async () => {
  let renewals = 0;
  const done = Promise.withResolvers<void>();
  const refresh = createRenewal(() => {
    renewals++;
    return done.promise;
  });
  const stop = new AbortController();
  const impatient = refresh(stop.signal);
  const patient = refresh(new AbortController().signal);
  stop.abort();
  await expect(impatient).rejects.toThrow("cancelled");
  done.resolve();
  await patient;
  expect(renewals).toBe(1);
});

test("work runs with at most so many at once, in order, and begins nothing after a failure", async () => {
  let most = 0;
  let running = 0;
  const double = async (value: number) => {
    most = Math.max(most, ++running);
    await new Promise((later) => setTimeout(later, 1));
    running--;
    if (value === 3) throw new ToolFault("params", "three");
    return value * 2;
  };
  expect(await mapLimited([1, 2, 4, 5], 2, double)).toEqual([2, 4, 8, 10]);
  expect(most).toBe(2);
  const begun: number[] = [];
  const counted = (value: number) => {
    begun.push(value);
    return double(value);
  };
  await expect(mapLimited([1, 3, 4, 5, 6, 7], 2, counted)).rejects.toThrow("three");
  expect(begun.length).toBeLessThan(6);
});
