import { once } from "node:events";
import { connect } from "node:net";
import { waitForRedirect } from "@retinue/assistant/accounts/google-sign-in";
import { REQUEST_PATIENCE } from "@retinue/core/net/request-patience";
import type { NewsEvent } from "@retinue/core/schema/api/stream";
import { expect, test } from "vitest";
import { readEvents } from "./event-reader.ts";
import { openSite } from "./site.ts";

const SMALL = { headersTimeout: 600, requestTimeout: 1_200, connectionsCheckingInterval: 100 };

/** Ways to begin a request and not to end it. */
const HALF_SENT: readonly [name: string, text: string][] = [
  ["nothing at all", ""],
  ["half a request line", "GET /api/thi"],
  ["half of the headers", "GET /api/things/1 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Slow: "],
  [
    "half of a body",
    "POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
  ],
  [
    "a body in chunks that never ends",
    "POST /api/things HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
  ],
];

/** Sends a text and waits until the server closes the connection. */
async function untilClosed(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  let got = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    got += part;
  });
  socket.on("error", () => {});
  await once(socket, "close");
  return got;
}

test("a request that is never sent to its end is closed, and a stream that runs meanwhile is not", async () => {
  await using site = await openSite();
  const { port, origin, bearer } = await site.serve(SMALL);
  const headers = { authorization: `Bearer ${bearer}` };
  const events = readEvents<NewsEvent>(await fetch(`${origin}/api/events`, { headers }));
  for (const [name, text] of HALF_SENT) {
    const answer = await untilClosed(port, text.replaceAll("PORT", String(port)).replaceAll("KEY", bearer));
    expect([name, answer.split("\r\n", 1)[0]]).toEqual([
      name,
      expect.stringMatching(/^(HTTP\/1.1 408 .*)?$/),
    ]);
  }
  // By now the stream is several times older than a request may be.
  await expect(Promise.race([events.ended, Promise.resolve("open")])).resolves.toBe("open");
  expect((await fetch(`${origin}/api/things/1`, { headers })).status).toBe(200);
  await expect(Promise.race([events.ended, Promise.resolve("open")])).resolves.toBe("open");
  await events.stop();
  expect([site.written, site.faults]).toEqual([0, []]);
});

test("the server for a sign-in's answer closes such connections too", async () => {
  const ending = new AbortController();
  const redirect = await waitForRedirect("state", ending.signal, SMALL);
  for (const text of [
    "",
    "GET /x HTTP/1.1\r\nHost: ",
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
  ])
    await untilClosed(Number(new URL(redirect.uri).port), text);
  redirect.close();
});

test("by default a half-sent request is given less than 35 seconds", () => {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval } = REQUEST_PATIENCE;
  expect(headersTimeout).toBeLessThanOrEqual(requestTimeout);
  expect(requestTimeout + connectionsCheckingInterval).toBeLessThan(35_000);
});
