import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startOAuthServer } from "../services/oauth-server.ts";
import { type Ended, World } from "./world.ts";

const ENV = { RETINUE_KEYRING: "off" };
const BOT = "xoxb-1234567890-botsecret";
const PERSON = "xoxp-1234567890-personsecret";
/** Of a workspace whose name has an escape code. */
const STRANGE = "xoxb-1234567890-strange";
const oauth = await startOAuthServer();
const slack = createServer((request, response) => {
  const known = [BOT, PERSON, STRANGE].find((token) => request.headers.authorization === `Bearer ${token}`);
  const team = known === STRANGE ? "Ac\u001b[2Jme\u0007 Inc" : "Acme";
  response.writeHead(200, { "content-type": "application/json", "x-oauth-scopes": "chat:write" });
  response.end(
    JSON.stringify(known ? { ok: true, user: "retinue", team } : { ok: false, error: "invalid_auth" }),
  );
});
await new Promise<void>((listening) => slack.listen(0, "127.0.0.1", listening));
const at = slack.address();
const apiUrl = `http://127.0.0.1:${at !== null && typeof at === "object" ? at.port : 0}/api/`;
afterAll(async () => {
  await oauth.close();
  slack.closeAllConnections();
  await new Promise((closed) => slack.close(closed));
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Every file of this machine that holds a text, by its path. */
function holding(world: World, text: string): string[] {
  return readdirSync(world.root, { recursive: true, encoding: "utf8" }).filter((path) => {
    const full = join(world.root, path);
    return statSync(full).isFile() && readFileSync(full).includes(text);
  });
}

function addSlack(world: World, more: string[] = [], input = `${BOT}\n`): Promise<Ended> {
  const args = ["accounts", "add", "slack", "--token-stdin", "--api-url", apiUrl, ...more];
  return world.call(args, { env: ENV, input });
}

/** Signs in as a person with a browser would: opens the page that the program names. */
async function addGoogle(world: World, more: string[] = []): Promise<Ended> {
  const { clientId, clientSecret, authUrl, tokenUrl } = oauth;
  const args = ["--client-id", clientId, "--auth-url", authUrl, "--token-url", tokenUrl, ...more];
  const started = world.start(["accounts", "add", "google", ...args], {
    env: { ...ENV, GOOGLE_CLIENT_SECRET: clientSecret },
  });
  let told = "";
  started.child.stderr?.on("data", (text: string) => {
    told += text;
  });
  await started.stderrHas("code_challenge_method");
  const url = /http:\S+code_challenge\S+/.exec(told)?.[0] ?? "";
  await oauth.visit(url);
  return started.ended;
}

test("an account of Slack is added, listed, tested, chosen and removed, and its tokens are seen nowhere", async () => {
  await using world = new World();
  const ended: Ended[] = [];
  const run = async (...args: string[]) => {
    const result = await world.call(["accounts", ...args], { env: ENV });
    ended.push(result);
    return result;
  };
  ended.push(await addSlack(world, [], `${BOT}\n${PERSON}\n`));
  expect(ended[0]).toMatchObject({ code: 0, stdout: expect.stringContaining("it serves slack") });
  expect((await run("list")).stdout).toMatch(/slack +slack +retinue@Acme +slack +slack +file/);
  expect(JSON.parse((await run("list", "--json")).stdout)).toMatchObject({
    accounts: [{ id: "slack", kind: "slack", address: "retinue@Acme", scopes: ["chat:write"] }],
    serving: { mail: "local", slack: "slack" },
  });
  expect(await run("test")).toMatchObject({ code: 0, stdout: "slack  slack  ok\n" });
  expect((await run("default", "slack", "local")).stdout).toBe("the local store serves slack\n");
  expect((await run("default", "slack", "slack")).stdout).toBe("slack serves slack\n");

  const file = join(world.config, "retinue", "accounts.json");
  expect(modeOf(file)).toBe(0o600);
  expect(modeOf(join(world.data, "secrets"))).toBe(0o700);
  expect(modeOf(join(world.data, "secrets", "slack.json"))).toBe(0o600);
  for (const secret of [BOT, PERSON]) expect(holding(world, secret)).toEqual(["data/secrets/slack.json"]);

  const removed = await run("remove", "slack");
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining("the local store serves slack") });
  expect(removed.stderr).toContain("the token stays good until you revoke it");
  for (const secret of [BOT, PERSON]) {
    expect(holding(world, secret)).toEqual([]);
    for (const { stdout, stderr } of ended) expect(stdout + stderr).not.toContain(secret);
  }
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ accounts: [], defaults: {} });
});

test("a token that Slack refuses is not kept, and not repeated", async () => {
  await using world = new World();
  const bad = "xoxb-0000000000-refused";
  const { code, stdout, stderr } = await addSlack(world, [], `${bad}\n`);
  expect({ code, stdout }).toEqual({ code: 41, stdout: "" });
  expect(stderr).toContain("Slack refused the token: invalid_auth");
  expect(stdout + stderr).not.toContain(bad);
  expect(holding(world, bad)).toEqual([]);
  expect(existsSync(join(world.config, "retinue", "accounts.json"))).toBe(false);
});

test("Google's account comes by a consent in the browser, and its tokens are kept for the person alone", async () => {
  await using world = new World();
  const added = await addGoogle(world, ["--services", "mail,contacts"]);
  expect(added).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("added google: ada@example.org (google)"),
  });
  expect(added.stdout).toContain("it serves mail, contacts");
  for (const secret of [oauth.refreshToken, oauth.accessToken, oauth.clientSecret]) {
    expect(holding(world, secret)).toEqual(["data/secrets/google.json"]);
    expect(added.stdout + added.stderr).not.toContain(secret);
  }
  expect(modeOf(join(world.data, "secrets", "google.json"))).toBe(0o600);
  const again = await addGoogle(world);
  expect(again.stdout).toContain("signed in again to google");
  expect(JSON.parse((await world.call(["accounts", "list", "--json"], { env: ENV })).stdout)).toMatchObject({
    accounts: [{ id: "google", services: ["mail", "calendar", "contacts"] }],
    serving: { mail: "google", calendar: "google", contacts: "google", slack: "local" },
  });
});

test.each([
  ["a wrong state", { wrongState: true }, "its state is another"],
  ["a denied consent", { denies: true }, "the consent was denied"],
])("%s ends the sign-in with exit code 41, and nothing is kept", async (_, behaviour, message) => {
  await using world = new World();
  oauth.behaviour = behaviour;
  try {
    expect(await addGoogle(world)).toMatchObject({
      code: 41,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  } finally {
    oauth.behaviour = {};
  }
  expect(existsSync(join(world.data, "secrets"))).toBe(false);
  expect(existsSync(join(world.config, "retinue"))).toBe(false);
});

test("a mailbox that cannot be reached is not kept", async () => {
  await using world = new World();
  const args = ["--address", "ada@example.org", "--imap", "127.0.0.1:1", "--smtp", "127.0.0.1:1"];
  const { code, stderr } = await world.call(["accounts", "add", "imap", ...args, "--password-env", "PW"], {
    env: { ...ENV, PW: "open-sesame-1" },
  });
  expect(code).toBe(42);
  expect(stderr).toContain("nothing was saved");
  expect(holding(world, "open-sesame-1")).toEqual([]);
});

test("secrets that others can read are not used", async () => {
  await using world = new World();
  await addSlack(world);
  chmodSync(join(world.data, "secrets", "slack.json"), 0o644);
  const { stdout, code } = await world.call(["accounts", "test", "slack"], { env: ENV });
  expect(code).toBe(1);
  expect(stdout).toContain("can be read by others");
  expect(stdout).toContain("hint: run: chmod 600");
});

test("files go into the local store and come out again", async () => {
  await using world = new World();
  world.write("in/one.eml", "From: a@x.example\nTo: me@localhost\nSubject: Hi\nMessage-ID: <1@x>\n\nHello\n");
  world.write("in/bad.ics", "nothing");
  const first = await world.call(["accounts", "import", "in"], { env: ENV });
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("imported 1 mails") });
  expect(first.stderr).toContain("bad.ics");
  expect((await world.call(["accounts", "import", "in/one.eml"], { env: ENV })).stdout).toContain(
    "1 were there already",
  );
  expect((await world.call(["accounts", "export", "out"], { env: ENV })).stdout).toContain(
    "exported 1 mails",
  );
  expect(modeOf(join(world.project, "out", "mail", "inbox.mbox"))).toBe(0o600);
  expect(await world.call(["accounts", "export", "out"], { env: ENV })).toMatchObject({ code: 42 });
});

test.each([
  [["add", "imap"], 2, "--address"],
  [["add", "imap", "--address", "ada@example.org"], 2, "--imap"],
  [["add", "imap", "--address", "ada@gmail.com"], 2, "--password-stdin or --password-env"],
  [["add", "imap", "--address", "ada"], 2, "is no mail address"],
  [["add", "google"], 2, "--client-id or --client-file"],
  [["add", "google", "--client-id", "x", "--services", "fax"], 2, "cannot serve fax"],
  [["add", "slack"], 2, "--token-stdin or --token-env"],
  [["add", "slack", "--token-env", "NOT_SET"], 42, "holds no secret"],
  [["add", "slack", "--token-stdin"], 42, "holds no token"],
  [["add", "slack", "--id", "../x", "--token-stdin"], 2, "cannot be an account's id"],
  [["add", "caldav", "--url", "http://dav.example/"], 42, "in the clear"],
  [["add", "fax"], 2, "fax"],
  [["remove", "x"], 42, "there is no account 'x'; there are: none"],
  [["test", "x"], 42, "there is no account 'x'"],
  [["default", "mail", "x"], 42, "there is no account 'x'"],
  [["default", "fax", "local"], 2, "fax"],
  [["import", "missing"], 42, "is not there"],
])("accounts %j is refused with exit code %i", async (args, code, message) => {
  await using world = new World();
  const ended = await world.call(["accounts", ...args], { env: ENV });
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
});

test("an account does not take the name of another one, and its secrets stay", async () => {
  await using world = new World();
  await addSlack(world);
  const file = join(world.config, "retinue", "accounts.json");
  world.writeAt(file, readFileSync(file, "utf8").replaceAll("retinue@Acme", "somebody@Other"));
  chmodSync(file, 0o600);
  const taken = await addSlack(world, ["--id", "slack"], `${PERSON}\n`);
  expect(taken).toMatchObject({
    code: 42,
    stderr: expect.stringContaining("'slack' is another account: somebody@Other (slack)"),
  });
  expect(holding(world, BOT)).toEqual(["data/secrets/slack.json"]);
});

test("a service that cannot be reached is no reason to sign in again", async () => {
  await using world = new World();
  await addSlack(world);
  const file = join(world.config, "retinue", "accounts.json");
  world.writeAt(file, readFileSync(file, "utf8").replaceAll(apiUrl, "http://127.0.0.1:1/"));
  chmodSync(file, 0o600);
  const { code, stdout } = await world.call(["accounts", "test"], { env: ENV });
  expect(code).toBe(1);
  expect(stdout).toContain("127.0.0.1:1 cannot be asked");
});

test("a default is not changed by a command that fails", async () => {
  await using world = new World();
  await addSlack(world);
  const ended = await world.call(["accounts", "default", "slack", "local", "-C", "missing"], { env: ENV });
  expect(ended.code).not.toBe(0);
  const kept = readFileSync(join(world.config, "retinue", "accounts.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ defaults: { slack: "slack" } });
});

test("a workspace's name cannot steer the terminal", async () => {
  await using world = new World();
  const { code, stdout } = await addSlack(world, [], `${STRANGE}\n`);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("retinue@Acme Inc") });
  expect(stdout).not.toMatch(/\p{Cc}(?<!\n)/u);
});

test("a broken file of accounts is an error of the configuration", async () => {
  await using world = new World();
  world.writeAt(join(world.config, "retinue", "accounts.json"), "{");
  expect(await world.call(["accounts", "list"], { env: ENV })).toMatchObject({
    code: 52,
    stderr: expect.stringContaining("accounts.json cannot be used: it is no JSON"),
  });
});
