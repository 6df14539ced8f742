import type { SlackProvider } from "@retinue/assistant/slack/slack-provider";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startWorkspace, TOKENS, type Workspace } from "./slack-workspace.ts";

const signal = new AbortController().signal;
const params = (message: string) => ({ type: "params", message: expect.stringContaining(message) });

let workspace: Workspace;
let slack: SlackProvider;
let clock: number;

beforeAll(async () => {
  workspace = await startWorkspace();
});
afterAll(() => workspace.close());
beforeEach(() => {
  workspace.proxy.clear();
  clock = 1_000_000;
  slack = workspace.open({ now: () => clock });
});

/** Answers the next call of a method in the server's place. */
function answer(method: string, body: object): void {
  workspace.proxy.script(`POST /api/${method}`, { kind: "status", status: 200, body: { ok: true, ...body } });
}

/** A channel of its own for one test. */
async function newChannel(name: string): Promise<string> {
  const { channel } = await workspace.direct("conversations.create", { name });
  return (channel as { id: string }).id;
}

async function say(channel: string, text: string, more: Record<string, string> = {}): Promise<string> {
  const { ts } = await workspace.direct("chat.postMessage", { channel, text, ...more });
  return String(ts);
}

test("a channel is found by #name, name, id and mention, with one listing for five minutes", async () => {
  const { alpha } = workspace.ids;
  for (const name of [
    "#project-alpha",
    "project-alpha",
    " #Project-Alpha ",
    alpha,
    `<#${alpha}|project-alpha>`,
  ]) {
    const found = await slack.channel(name, signal);
    expect(found).toEqual({ id: alpha, name: "project-alpha", isShared: false });
  }
  clock += 5 * 60_000 - 1;
  await slack.channel("#project-alpha", signal);
  expect(workspace.proxy.seen("POST /api/conversations.*")).toBe(1);
  clock += 1;
  await slack.channel("#project-alpha", signal);
  expect(workspace.proxy.seen("POST /api/conversations.list")).toBe(2);
});

test("a channel that is not there is answered with names that are near, after one more look if the list is old", async () => {
  await expect(slack.channel("#projekt-alpha", signal)).rejects.toMatchObject(params("near: #project-alpha"));
  expect(workspace.proxy.seen("POST /api/conversations.list")).toBe(1);
  clock += 60_000;
  const id = await newChannel("just-made");
  expect(await slack.channel("#just-made", signal)).toMatchObject({ id });
  await expect(slack.channel("#", signal)).rejects.toMatchObject(params("no channel is named"));
});

test("a listing goes through all pages, and one that goes in circles is ended", async () => {
  const page = (id: string, next_cursor: string) =>
    answer("conversations.list", {
      channels: [{ id, name: id.toLowerCase() }],
      response_metadata: { next_cursor },
    });
  page("C0000001", "a");
  page("C0000002", "");
  expect(await slack.channel("#c0000002", signal)).toMatchObject({ id: "C0000002" });
  clock += 600_000;
  for (const cursor of ["a", "b", "a"]) page("C0000003", cursor);
  await expect(slack.channel("#c0000003", signal)).rejects.toMatchObject({ type: "tool_error" });
});

test.each([
  [{ is_ext_shared: true, is_shared: true }, true],
  [{ is_shared: true }, true],
  [{ is_pending_ext_shared: true }, true],
  [{ is_shared: true, is_org_shared: true }, false],
  [{}, false],
])("a channel with %j is shared with others: %s", async (flags, isShared) => {
  answer("conversations.list", { channels: [{ id: "C0000009", name: "partners", ...flags }] });
  expect(await slack.channel("#partners", signal)).toMatchObject({ isShared });
});

test("@person opens the direct conversation, which then is known by its id", async () => {
  const direct = await slack.channel("@priya", signal);
  expect(direct).toMatchObject({ name: "@priya", isShared: false });
  expect(direct.id).toMatch(/^D/);
  expect(await slack.channel(`<@${workspace.ids.priya}>`, signal)).toEqual(direct);
  expect(await workspace.open().channel(direct.id, signal)).toEqual(direct);
});

test("a direct conversation with somebody of another organisation counts as shared", async () => {
  const stranger = { id: "U0STRANGER", name: "dana", team_id: "T0ACME", profile: {} };
  answer("users.info", { user: stranger });
  answer("conversations.open", { channel: { id: "D0000001" } });
  expect(await slack.channel("<@U0STRANGER>", signal)).toMatchObject({ name: "@dana", isShared: true });
});

test("the documented least scopes are enough to read, look up and write in public channels", async () => {
  const least = workspace.open({ token: TOKENS.least });
  const { id } = await least.channel("#project-alpha", signal);
  await least.messages(id, { limit: 5 }, signal);
  await least.user("priya@retinue.example", signal);
  const callKey = "least";
  const { ts } = await least.post({ channelId: id, text: "with few rights", callKey }, signal);
  expect(await least.findByCallKey({ channelId: id, callKey }, signal)).toMatchObject({ ts });
  const message = "private channels are found by id only, for the app lacks the scope 'groups:read'";
  await expect(least.channel("#board", signal)).rejects.toMatchObject(params(message));
  await expect(least.channel("@priya", signal)).rejects.toMatchObject({
    type: "permission",
    message: "the Slack app lacks the scope 'im:write', which conversations.open needs (missing_scope)",
  });
});

test("a channel that was listed but may not be read is a matter of permission, not of its name", async () => {
  const { id } = await slack.channel("#project-beta", signal);
  const refusal = { kind: "status", status: 200, body: { ok: false, error: "channel_not_found" } } as const;
  workspace.proxy.script("POST /api/conversations.history", refusal, refusal);
  await expect(slack.messages(id, { limit: 1 }, signal)).rejects.toMatchObject({ type: "permission" });
  await expect(slack.messages("C0UNKNOWN1", { limit: 1 }, signal)).rejects.toMatchObject({ type: "params" });
});

test("messages come oldest first, only the newest of them, and say if there are more", async () => {
  const channel = await newChannel("counting");
  const stamps: string[] = [];
  for (const text of ["one", "two", "three", "four"]) stamps.push(await say(channel, text));
  const texts = async (query: { oldest?: number; latest?: number; limit: number }) => {
    const { messages, more } = await slack.messages(channel, query, signal);
    return [...messages.map(({ text }) => text), more];
  };
  expect(await texts({ limit: 2 })).toEqual(["three", "four", true]);
  expect(await texts({ limit: 4 })).toEqual(["one", "two", "three", "four", false]);
  expect(await texts({ limit: 9, oldest: Number(stamps[2]) })).toEqual(["three", "four", false]);
  expect(await texts({ limit: 9, latest: Number(stamps[1]) })).toEqual(["one", "two", false]);
  const sent = new URLSearchParams(
    workspace.proxy.requests.findLast(({ body }) => body.includes("oldest="))?.body,
  );
  expect(sent.get("oldest")).toBe(stamps[2]);
  expect(Number(sent.get("latest"))).toBe(clock / 1000 + 86_400);
});

test("pages are read until the limit is met, and joining is not a message", async () => {
  const page = (names: string[], next_cursor: string) => ({
    messages: names.map((text, index) => ({ ts: `10${text}.00000${index}`, text, user: "U1" })),
    response_metadata: { next_cursor },
  });
  answer("conversations.history", page(["9", "8"], "x"));
  const joined = {
    ts: "107.000000",
    subtype: "channel_join",
    text: "<@U1> has joined the channel",
    user: "U1",
  };
  answer("conversations.history", {
    ...page(["6", "5"], "y"),
    messages: [joined, ...page(["6", "5"], "").messages],
  });
  const { messages, more } = await slack.messages(workspace.ids.alpha, { limit: 3 }, signal);
  expect(messages.map(({ text }) => text)).toEqual(["6", "8", "9"]);
  expect(more).toBe(true);
  expect(workspace.proxy.seen("POST /api/conversations.history")).toBe(2);
});

test("people, channels and links in a text are named, and each person is asked for once", async () => {
  const channel = await newChannel("markup");
  const { alex, priya, alpha } = workspace.ids;
  for (let count = 0; count < 5; count++) {
    await say(
      channel,
      `<@${priya}> see <#${alpha}|project-alpha> &lt;b&gt; <!here>: <https://a.example/x|the plan>`,
    );
  }
  const { messages } = await slack.messages(channel, { limit: 10 }, signal);
  expect(messages).toHaveLength(5);
  expect(messages[0]).toMatchObject({
    text: "@priya see #project-alpha <b> @here: the plan (https://a.example/x)",
    user: { id: alex, name: "alex" },
    channel: { id: channel, name: "markup" },
    reactions: [],
  });
  await slack.messages(channel, { limit: 10 }, signal);
  expect(workspace.proxy.seen("POST /api/users.info")).toBe(2);
  expect(workspace.proxy.seen("POST /api/auth.test")).toBe(1);
  expect(workspace.proxy.seen("POST /api/chat.getPermalink")).toBe(0);
});

test("a link that is built equals the one that Slack gives, in a thread too", async () => {
  const channel = await newChannel("links");
  const root = await say(channel, "root");
  const reply = await say(channel, "reply", { thread_ts: root });
  const { messages } = await slack.replies(channel, root, 10, signal);
  for (const [index, message_ts] of [root, reply].entries()) {
    const { permalink } = await workspace.direct("chat.getPermalink", { channel, message_ts });
    const path = new URL(String(permalink)).href.slice(new URL(String(permalink)).origin.length);
    expect(messages[index]?.link).toBe(`https://retinue.slack.com${path}`);
  }
});

test("a thread is its first message and the replies, which the channel does not repeat", async () => {
  const channel = await newChannel("threads");
  const root = await say(channel, "shall we?");
  await say(channel, "yes", { thread_ts: root });
  const last = await say(channel, "no", { thread_ts: root });
  await workspace.direct("reactions.add", { channel, timestamp: last, name: "tada" });
  const thread = await slack.replies(channel, root, 10, signal);
  expect(thread.messages.map(({ text }) => text)).toEqual(["shall we?", "yes", "no"]);
  expect(thread.messages[2]).toMatchObject({ threadTs: root, reactions: [{ name: "tada", count: 1 }] });
  expect(thread.more).toBe(false);
  expect(await slack.replies(channel, root, 2, signal)).toMatchObject({ more: true });
  const { messages } = await slack.messages(channel, { limit: 10 }, signal);
  expect(messages).toMatchObject([{ text: "shall we?", replies: 2 }]);
  await expect(slack.replies(channel, "yesterday", 2, signal)).rejects.toMatchObject(
    params("names no thread"),
  );
});

test("the first message of a thread, which Slack repeats on each page, is there once", async () => {
  const root = { ts: "100.000000", text: "root", user: "U1" };
  const reply = (n: number) => ({ ts: `10${n}.000000`, thread_ts: root.ts, text: `${n}`, user: "U1" });
  answer("conversations.replies", { messages: [root, reply(1)], response_metadata: { next_cursor: "x" } });
  answer("conversations.replies", { messages: [root, reply(2)] });
  const { messages, more } = await slack.replies(workspace.ids.alpha, root.ts, 50, signal);
  expect(messages.map(({ text }) => text)).toEqual(["root", "1", "2"]);
  expect(more).toBe(false);
});

test("people whom Slack does not describe keep their ids, and the message is still read", async () => {
  answer("conversations.history", {
    messages: [{ ts: "100.000000", text: "by <@U0GONE001>", user: "U0GONE001" }],
  });
  const { messages } = await slack.messages(workspace.ids.alpha, { limit: 1 }, signal);
  expect(messages).toMatchObject([{ text: "by @U0GONE001", user: { id: "U0GONE001", name: "U0GONE001" } }]);
});

test("a person is found by id, @name, real name and mail address", async () => {
  const { priya } = workspace.ids;
  for (const who of [priya, `<@${priya}>`, "@priya", "Priya", "priya nair", "priya@retinue.example"]) {
    expect(await slack.user(who, signal)).toEqual({
      id: priya,
      name: "priya",
      realName: "Priya Nair",
      title: "Designer",
      email: "priya@retinue.example",
      isBot: false,
    });
  }
  expect(workspace.proxy.seen("POST /api/users.list")).toBe(1);
});

test("a name of nobody or of two is refused with the names in question", async () => {
  await expect(slack.user("pria nair", signal)).rejects.toMatchObject(params("near: Priya Nair"));
  const two = await slack.user("Jonas Weber", signal).catch((fault: Error) => fault.message);
  expect(two).toMatch(
    /^'Jonas Weber' may be Jonas Weber \(@jonas, U\w+\) or Jonas Weber \(@jonas2, U\w+\); use the id$/,
  );
  await expect(slack.user("nobody@retinue.example", signal)).rejects.toMatchObject(
    params("nobody with this address"),
  );
});

test("a person who shows another's name is not taken for them", async () => {
  const user = (id: string, name: string, display_name: string) => ({ id, name, profile: { display_name } });
  answer("users.list", { members: [user("U0000001", "dana", "Dana"), user("U0000002", "mallory", "dana")] });
  await expect(slack.user("@dana", signal)).rejects.toMatchObject(params("U0000001"));
});

test("a name in capitals is not taken for an id", async () => {
  expect(await slack.channel("GENERAL", signal)).toMatchObject({ name: "general" });
  answer("users.list", { members: [{ id: "U0000003", name: "williams", team_id: "T1", profile: {} }] });
  expect(await slack.user("WILLIAMS", signal)).toMatchObject({ id: "U0000003" });
  await expect(slack.channel("GENERALE", signal)).rejects.toMatchObject(params("near: #general"));
});

test("whether a person is of another organisation is never guessed", async () => {
  workspace.proxy.script("POST /api/auth.test", { kind: "status", status: 503 });
  await expect(slack.channel("@priya", signal)).rejects.toMatchObject({ type: "network" });
  expect(workspace.proxy.seen("POST /api/conversations.open")).toBe(0);
});

test("people who left the workspace are not found by name", async () => {
  const dana = { id: "U0000004", name: "dana", team_id: "T1", profile: {}, deleted: true };
  answer("users.list", { members: [dana] });
  await expect(slack.user("dana", signal)).rejects.toMatchObject(params("nobody called 'dana'"));
});
