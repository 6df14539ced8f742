import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { postForm, refusePlain } from "./post-form.ts";

const server = createServer(async (request, response) => {
  if (request.url !== "/token") return void response.end("<html>hush</html>");
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  response.writeHead(400).end(JSON.stringify({ ...form, bearer: request.headers.authorization }));
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const address = server.address();
const origin = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
afterAll(() => server.close());
const { signal } = new AbortController();

test("a form is posted, and what comes back is read whatever its status", async () => {
  const { ok, value } = await postForm(`${origin}/token`, { code: "a&b" }, { token: "t", signal });
  expect({ ok, value }).toEqual({ ok: false, value: { code: "a&b", bearer: "Bearer t" } });
});

test("an error names the place and neither what was sent nor what was answered", async () => {
  const thrown = await postForm(`${origin}/page`, { code: "hush" }, { signal }).catch(
    (error: Error) => error,
  );
  expect(thrown).toMatchObject({ code: "failed", message: /its answer is not JSON/ });
  expect(String(thrown)).not.toContain("hush");
});

test.each([
  ["http://slack.example/api/", "in the clear"],
  ["https://ada:hush@a.example/", "with a password in it"],
  ["ftp://a.example/", "is not a web address"],
  ["nowhere", "is not a web address"],
])("%s is refused", (url, why) => {
  expect(() => refusePlain(url)).toThrow(why);
  expect(refusePlain("https://dav.example.org:8443/x")).toBe("dav.example.org:8443");
});
