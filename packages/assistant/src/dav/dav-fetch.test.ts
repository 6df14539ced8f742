import { expect, test, vi } from "vitest";
import { createDavFetch, parseServerUrl } from "./dav-fetch.ts";

const { signal } = new AbortController();
const SERVER = { url: "https://dav.provider.example/me/", user: "ada", password: "hush" };

/** Asks as the client does, with these answers by address; gives the addresses that got the password. */
async function ask(url: string, answers: Record<string, Response>, init: RequestInit = {}) {
  const trusted: string[] = [];
  vi.stubGlobal("fetch", async (to: URL, { headers }: RequestInit) => {
    if (new Headers(headers).has("authorization")) trusted.push(to.href);
    return answers[to.href] ?? new Response(null, { status: 404 });
  });
  try {
    return { answer: await createDavFetch(SERVER, signal)(url, init), trusted };
  } finally {
    vi.unstubAllGlobals();
  }
}

test("a password goes only over TLS, or to this machine", () => {
  for (const url of ["https://dav.example.org/", "http://localhost:5232/", "http://[::1]/"])
    expect(parseServerUrl(url).href).toBe(url);
  for (const url of ["http://dav.example.org/", "ftp://localhost/", "nowhere"])
    expect(() => parseServerUrl(url)).toThrow(expect.objectContaining({ type: "params" }));
});

test("redirects are followed to the server's own hosts and to no other", async () => {
  const to = (location: string) => new Response(null, { status: 302, headers: { location } });
  const own = "https://p42.provider.example/me/";
  const { answer, trusted } = await ask(SERVER.url, { [SERVER.url]: to(own), [own]: new Response("here") });
  expect([await answer.text(), trusted]).toEqual(["here", [SERVER.url, own]]);
  for (const elsewhere of ["https://evil.example/", "http://p42.provider.example/"])
    await expect(ask(SERVER.url, { [SERVER.url]: to(elsewhere) })).rejects.toMatchObject({
      type: "tool_error",
      message: /points to/,
    });
});

test.each([
  [401, "auth"],
  [403, "permission"],
  [429, "rate_limit"],
  [500, "network"],
])("an answer with status %i is a fault of the kind %s", async (status, type) => {
  await expect(ask(SERVER.url, { [SERVER.url]: new Response("", { status }) })).rejects.toMatchObject({
    type,
  });
});

test("the caller itself reads what is missing or has changed", async () => {
  for (const status of [404, 409, 412])
    expect((await ask(SERVER.url, { [SERVER.url]: new Response("", { status }) })).answer.status).toBe(
      status,
    );
});

test("a list that was cut off is a fault", async () => {
  const cut = new Response("<d:multistatus><d:response>", { status: 207 });
  await expect(ask(SERVER.url, { [SERVER.url]: cut }, { method: "REPORT" })).rejects.toMatchObject({
    message: /something else than a list/,
  });
});
