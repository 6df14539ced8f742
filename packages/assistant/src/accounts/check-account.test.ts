import { createServer } from "node:http";
import { afterAll, expect, test } from "vitest";
import { fetchSlackIdentity } from "./check-account.ts";

const TOKEN = "xoxb-1234567890-good";
const server = createServer((request, response) => {
  const isGood = request.headers.authorization === `Bearer ${TOKEN}`;
  response.writeHead(200, { "content-type": "application/json", "x-oauth-scopes": "chat:write, users:read" });
  if (request.url !== "/api/auth.test") response.end("<html>");
  else
    response.end(
      JSON.stringify(
        isGood ? { ok: true, user: "retinue", team: "Acme" } : { ok: false, error: "invalid_auth" },
      ),
    );
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const at = server.address();
const origin = `http://127.0.0.1:${at !== null && typeof at === "object" ? at.port : 0}`;
afterAll(() => new Promise((closed) => server.close(closed)));

const signal = new AbortController().signal;

test("a token tells whose it is and what it may do", async () => {
  expect(await fetchSlackIdentity(TOKEN, { apiUrl: `${origin}/api`, signal })).toEqual({
    user: "retinue",
    team: "Acme",
    scopes: ["chat:write", "users:read"],
  });
});

test("no error repeats the token", async () => {
  for (const [token, apiUrl, code] of [
    ["xoxb-1234567890-bad", `${origin}/api/`, "auth"],
    [TOKEN, `${origin}/other/`, "failed"],
    [TOKEN, "http://127.0.0.1:1/", "failed"],
    [TOKEN, "http://slack.example/api/", "input"],
    ["xoxb-with\r\nx-header: 1", `${origin}/api/`, "input"],
  ] as const) {
    const thrown = await fetchSlackIdentity(token, { apiUrl, signal }).catch((error: Error) => error);
    expect(thrown).toMatchObject({ code });
    expect(`${thrown}${JSON.stringify(thrown)}`).not.toContain(token);
  }
});
