import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { waitForRedirect } from "./google-sign-in.ts";

test("connections that a browser opened and never used do not outlive the sign-in", async () => {
  const redirect = await waitForRedirect("state-1", new AbortController().signal);
  const unused = connect(Number(new URL(redirect.uri).port), "127.0.0.1");
  await once(unused, "connect");
  const page = await fetch(`${redirect.uri}?state=state-1&code=code-1`);
  expect([page.status, await page.text()]).toEqual([200, "You are signed in. You can close this page.\n"]);
  expect(await redirect.code).toBe("code-1");
  const ended = once(unused.resume(), "close");
  redirect.close();
  await ended;
});
