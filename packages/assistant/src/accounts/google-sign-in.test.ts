import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startOAuthServer } from "../../../../test/services/oauth-server.ts";
import { type GoogleSignIn, signInGoogle, waitForRedirect } from "./google-sign-in.ts";

const oauth = await startOAuthServer("Ada@Example.org");
afterAll(() => oauth.close());
beforeEach(() => {
  oauth.behaviour = {};
});

function signIn(more: Partial<GoogleSignIn> = {}) {
  const { clientId, clientSecret, authUrl, tokenUrl } = oauth;
  return signInGoogle({
    ...{ clientId, clientSecret, authUrl, tokenUrl },
    services: ["mail", "calendar", "contacts"],
    signal: new AbortController().signal,
    now: () => 1_000,
    visit: (url) => void oauth.visit(url),
    ...more,
  });
}

test("a consent becomes an address, scopes and tokens, by PKCE and a loopback redirect", async () => {
  const { address, services, secrets, scopes } = await signIn({ address: "ada@example.org" });
  expect({ address, services, secrets }).toEqual({
    address: "ada@example.org",
    services: ["mail", "calendar", "contacts"],
    secrets: {
      refreshToken: oauth.refreshToken,
      accessToken: oauth.accessToken,
      clientSecret: oauth.clientSecret,
      expiryDate: "3600000",
    },
  });
  const page = oauth.pages.at(-1);
  expect(page?.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(Object.fromEntries(page ?? [])).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    access_type: "offline",
    login_hint: "ada@example.org",
    scope: scopes.join(" "),
  });
  expect(page?.get("state")).toMatch(/^[\w-]{43}$/);
  expect(oauth.exchanges.at(-1)?.form.get("code_verifier")).toMatch(/^[\w-]{64}$/);
});

test("only what the chosen services need is asked for", async () => {
  await signIn({ services: ["contacts"] });
  expect(oauth.pages.at(-1)?.get("scope")).toBe(
    "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/contacts.readonly",
  );
});

test("a service without full consent is left out", async () => {
  oauth.behaviour = { grants: (scopes) => scopes.filter((scope) => !scope.endsWith("gmail.compose")) };
  expect((await signIn()).services).toEqual(["calendar", "contacts"]);
  oauth.behaviour = { grants: () => ["openid"] };
  await expect(signIn()).rejects.toMatchObject({ code: "auth", message: /none of mail, calendar, contacts/ });
});

test("an answer with another state is refused, and its code never used", async () => {
  oauth.behaviour = { wrongState: true };
  const before = oauth.exchanges.length;
  await expect(signIn()).rejects.toMatchObject({ code: "auth", message: /its state is another/ });
  expect(oauth.exchanges).toHaveLength(before);
});

test("a denied consent, a wrong client and a missing refresh token end the sign-in", async () => {
  oauth.behaviour = { denies: true };
  await expect(signIn()).rejects.toMatchObject({ code: "auth", message: "the consent was denied" });
  oauth.behaviour = { noRefreshToken: true };
  await expect(signIn()).rejects.toMatchObject({ code: "auth", message: /no refresh token/ });
  oauth.behaviour = {};
  const wrong = await signIn({ clientSecret: "wrong-secret-123" }).catch((thrown: Error) => thrown);
  expect(wrong).toMatchObject({ code: "auth", message: "the code was not taken: invalid_client" });
});

test("a code that another program asked for is not taken: its proof is missing", async () => {
  let stolen = "";
  await signIn({
    visit(url) {
      const page = new URL(url);
      page.searchParams.set("code_challenge", "of-somebody-else");
      stolen = page.href;
      void oauth.visit(stolen);
    },
  }).catch((thrown: Error) => expect(thrown.message).toBe("the code was not taken: invalid_grant"));
  expect(oauth.exchanges.at(-1)?.status).toBe(400);
});

test("only the redirect is answered, and only under its own host name", async () => {
  const seen: number[] = [];
  await signIn({
    async visit(url) {
      const redirect = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
      seen.push((await fetch(new URL("/favicon.ico", redirect))).status);
      seen.push((await fetch(redirect, { method: "POST" })).status);
      redirect.hostname = "localhost";
      seen.push(
        await fetch(redirect).then(
          ({ status }) => status,
          () => 0,
        ),
      );
      await oauth.visit(url);
    },
  });
  expect(seen.slice(0, 2)).toEqual([404, 404]);
  expect([404, 0]).toContain(seen[2]);
});

test("a sign-in that nobody finishes ends when it is stopped", async () => {
  const stop = new AbortController();
  await expect(signIn({ signal: stop.signal, visit: () => stop.abort() })).rejects.toMatchObject({
    message: "nobody finished the sign-in",
  });
});

test("codes and secrets are never sent in the clear to another machine", async () => {
  await expect(signIn({ tokenUrl: "http://tokens.example/x" })).rejects.toMatchObject({ code: "input" });
  await expect(signIn({ authUrl: "http://pages.example/x" })).rejects.toMatchObject({ code: "input" });
});

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
