import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startWorkspace, TOKENS, type Workspace } from "./slack-workspace.ts";

const signal = new AbortController().signal;
const SEARCH = "POST /api/search.messages";

let workspace: Workspace;

beforeAll(async () => {
  workspace = await startWorkspace();
  const { alpha, alex, priya } = workspace.ids;
  for (const [index, text] of ["Q3 budget draft", "budget for Q3 is decided", "lunch"].entries()) {
    await workspace.direct("chat.postMessage", { channel: alpha, text });
    await workspace.addSearchable({
      ts: `17000000${index}0.000100`,
      user: index === 0 ? alex : priya,
      text,
      channel: alpha,
    });
  }
});
afterAll(() => workspace.close());
beforeEach(() => workspace.proxy.clear());

function lastQuery(): string | null {
  const request = workspace.proxy.requests.findLast(({ path }) => path.endsWith("/search.messages"));
  return new URLSearchParams(request?.body).get("query");
}

test("search asks Slack with the user's token, newest first, and counts all matches", async () => {
  const slack = workspace.open({ userToken: TOKENS.user });
  const found = await slack.search({ text: "budget q3", limit: 1 }, signal);
  expect(found).toMatchObject({
    total: 2,
    messages: [{ text: "budget for Q3 is decided", user: { name: "priya" } }],
  });
  expect(found.note).toBeUndefined();
  expect(found.messages[0]).toMatchObject({
    channel: { name: "project-alpha" },
    threadTs: "1700000010.000100",
  });
  const request = workspace.proxy.requests.find(({ path }) => path.endsWith("/search.messages"));
  expect(request?.headers.authorization).toBe(`Bearer ${TOKENS.user}`);
  const sent = Object.fromEntries(new URLSearchParams(request?.body));
  expect(sent).toMatchObject({ sort: "timestamp", sort_dir: "desc", count: "1", page: "1" });
});

test("a user's token is used for search when it is the only one", async () => {
  const found = await workspace.open({ token: TOKENS.priya }).search({ text: "lunch", limit: 5 }, signal);
  expect(found).toMatchObject({ total: 1, messages: [{ text: "lunch" }] });
});

test("search goes through pages up to the limit", async () => {
  const slack = workspace.open({ userToken: TOKENS.user });
  const match = (n: number) => ({
    ts: `10${n}.000000`,
    text: `${n}`,
    user: "U1",
    channel: { id: "C1", name: "x" },
  });
  for (const n of [3, 2]) {
    const messages = { total: 9, matches: [match(n)], paging: { pages: 9 } };
    workspace.proxy.script(SEARCH, { kind: "status", status: 200, body: { ok: true, messages } });
  }
  const { messages, total } = await slack.search({ text: "any", limit: 2 }, signal);
  expect(messages.map(({ text }) => text)).toEqual(["3", "2"]);
  expect(total).toBe(9);
});

test("words of the query are never operators", async () => {
  const slack = workspace.open({ userToken: TOKENS.user });
  const text = 'in:#board from:@priya -lunch "two words" "open';
  await slack.search({ text, channel: "#project-alpha", from: "@alex", limit: 5 }, signal);
  const { alpha, alex } = workspace.ids;
  const mine = '"in:#board" "from:@priya" "-lunch" "two words" "open"';
  expect(lastQuery()).toBe(`${mine} in:<#${alpha}> from:<@${alex}>`);
});

test("a query without words, channel or person is refused without a request", async () => {
  const slack = workspace.open({ userToken: TOKENS.user });
  await expect(slack.search({ text: ' "" - ', limit: 5 }, signal)).rejects.toMatchObject({ type: "params" });
  expect(workspace.proxy.requests).toHaveLength(0);
});

test("without a user's token the joined channels are looked through, and the answer says so", async () => {
  const slack = workspace.open();
  const found = await slack.search({ text: "BUDGET q3", limit: 1 }, signal);
  expect(found).toMatchObject({ total: 2, messages: [{ text: "budget for Q3 is decided" }] });
  expect(found.note).toMatch(
    /^Slack's search needs a user token; looked only at the newest 200 messages, without replies in threads, of (\d) of the \1 joined channels$/,
  );
  expect(workspace.proxy.seen(SEARCH)).toBe(0);
  const ofPriya = await slack.search(
    { text: "budget", from: "@priya", channel: "#project-alpha", limit: 5 },
    signal,
  );
  expect(ofPriya).toMatchObject({ total: 0, note: expect.stringContaining("#project-alpha") });
});

test("a user's token that may not search falls back and says why", async () => {
  const body = { ok: false, error: "missing_scope", needed: "search:read" };
  workspace.proxy.script(SEARCH, { kind: "status", status: 200, body });
  const found = await workspace.open({ userToken: TOKENS.user }).search({ text: "lunch", limit: 5 }, signal);
  expect(found).toMatchObject({ total: 1, note: expect.stringContaining("'search:read'") });
});

test("a joined channel that may not be read is passed over and not counted", async () => {
  const body = { ok: false, error: "missing_scope", needed: "groups:history" };
  workspace.proxy.script("POST /api/conversations.history", { kind: "status", status: 200, body });
  const { note } = await workspace.open().search({ text: "budget", limit: 5 }, signal);
  expect(note).toContain("2 of the 3 joined channels");
});

test("no more than twenty channels are looked through", async () => {
  const channels = Array.from({ length: 30 }, (_, n) => ({
    id: `C00000${10 + n}`,
    name: `c${n}`,
    is_member: n !== 3,
  }));
  const list = { kind: "status", status: 200, body: { ok: true, channels } } as const;
  workspace.proxy.script("POST /api/conversations.list", list);
  const empty = { kind: "status", status: 200, body: { ok: true, messages: [] } } as const;
  workspace.proxy.script("POST /api/conversations.history", ...Array.from({ length: 30 }, () => empty));
  const { note } = await workspace.open().search({ text: "x", limit: 5 }, signal);
  expect(workspace.proxy.seen("POST /api/conversations.history")).toBe(20);
  expect(note).toContain("20 of the 29 joined channels");
});

test("a post unfolds nothing, links no names and carries its call's key", async () => {
  const slack = workspace.open();
  const { id } = await slack.channel("#project-beta", signal);
  const posted = await slack.post({ channelId: id, text: "*done* @channel", callKey: "key-1" }, signal);
  expect(posted).toMatchObject({
    text: "*done* @channel",
    channel: { id, name: "project-beta" },
    user: { id: workspace.ids.alex, name: "alex" },
    link: `https://retinue.slack.com/archives/${id}/p${posted.ts.replace(".", "")}`,
  });
  const request = workspace.proxy.requests.find(({ path }) => path.endsWith("/chat.postMessage"));
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    channel: id,
    text: "*done* @channel",
    mrkdwn: "true",
    link_names: "false",
    unfurl_links: "false",
    unfurl_media: "false",
    metadata: '{"event_type":"retinue_call","event_payload":{"key":"key-1"}}',
  });
});

test("a post is found again by its key, in its channel or its thread, and by no other", async () => {
  const slack = workspace.open();
  const { id: channelId } = await slack.channel("#project-beta", signal);
  const root = await slack.post({ channelId, text: "root", callKey: "root-key" }, signal);
  const place = { channelId, threadTs: root.ts };
  const reply = await slack.post({ ...place, text: "reply", callKey: "reply-key" }, signal);
  expect(await slack.findByCallKey({ channelId, callKey: "root-key" }, signal)).toMatchObject({
    ts: root.ts,
    link: root.link,
  });
  expect(await slack.findByCallKey({ ...place, callKey: "reply-key" }, signal)).toEqual(reply);
  expect(await slack.findByCallKey({ channelId, callKey: "other-key" }, signal)).toBeNull();
  expect(await slack.findByCallKey({ ...place, callKey: "other-key" }, signal)).toBeNull();
  const looks = workspace.proxy.requests.filter(({ path }) => /\.(history|replies)$/.test(path));
  expect(looks).toHaveLength(4);
  for (const { body } of looks) expect(body).toContain("include_all_metadata=true");
});

test("metadata of another kind is not taken for a call's key", async () => {
  const { alpha } = workspace.ids;
  const metadata = JSON.stringify({ event_type: "task_created", event_payload: { key: "key-9" } });
  await workspace.direct("chat.postMessage", { channel: alpha, text: "x", metadata });
  expect(await workspace.open().findByCallKey({ channelId: alpha, callKey: "key-9" }, signal)).toBeNull();
});

test("a posted message counts as posted even if names cannot be looked up", async () => {
  const slack = workspace.open();
  const { alpha } = workspace.ids;
  for (const method of ["users.info", "auth.test", "conversations.info"]) {
    workspace.proxy.script(`POST /api/${method}`, { kind: "reset" });
  }
  const posted = await slack.post({ channelId: alpha, text: "out", callKey: "key-2" }, signal);
  expect(posted).toMatchObject({ text: "out", channel: { id: alpha, name: alpha } });
  expect(workspace.proxy.seen("POST /api/chat.postMessage")).toBe(1);
});

test("a text that Slack would cut is refused before it is sent", async () => {
  const post = { channelId: workspace.ids.alpha, text: "x".repeat(40_001), callKey: "key-3" };
  await expect(workspace.open().post(post, signal)).rejects.toMatchObject({ type: "params" });
  expect(workspace.proxy.requests).toHaveLength(0);
});
