import { describe, expect, test } from "vitest";
import { memoryAssistant } from "../../../../test/fixtures/memory-assistant.ts";
import { findStatements } from "./analyze-conversation.ts";
import type { SlackMessage } from "./slack-provider.ts";

const ROOTS = { projectDir: "/", workspaceDir: "/" };
const CRASHED = {
  ...ROOTS,
  sessionId: "ses",
  runId: "run",
  callId: "call",
  signal: new AbortController().signal,
};
const POST = { channel: "#project-alpha", text: "The plan is ready." };
const judged = async (input: object) => {
  const { risk, confirm, present, access } = memoryAssistant().tool("slack_post_message");
  const risks = typeof risk === "function" ? await risk(input) : risk;
  const reached = await access(input, ROOTS);
  return { risk: risks, confirm: await confirm?.(input, ROOTS), presented: await present?.(input), reached };
};

let clock = 1_763_200_000;
/** A message of a conversation; `thread` is the ts of the thread's first. */
function said(user: string, text: string, more: Partial<SlackMessage> = {}): SlackMessage {
  const ts = `${clock++}.000100`;
  const channel = { id: "C1", name: "project-alpha" };
  return {
    ts,
    channel,
    user: { id: user, name: user },
    text,
    reactions: [],
    link: `retinue:slack/${ts}`,
    ...more,
  };
}

describe("slack_post_message", () => {
  test.each([
    ["an own channel", {}, "medium"],
    ["a channel of several organisations", { channel: "#partners" }, "high"],
    ["somebody outside", { channel: "@dana" }, "high"],
    ["everybody in the channel", { text: "hello <!channel>" }, "high"],
    ["everybody who is here", { text: "@here look" }, "high"],
    ["everybody of a private channel", { text: "<!group> look" }, "high"],
    ["a group of people", { text: "<!subteam^S0123|@devs> look" }, "high"],
    ["everybody, in wide letters", { text: "＠everyone" }, "high"],
    ["everybody, with something invisible between", { text: "@\u200bchannel" }, "high"],
    ["an address that only looks like it", { text: "write to x@channel.example" }, "medium"],
  ])("to %s is of the right risk", async (_name, more, risk) => {
    const seen = await judged({ ...POST, ...more });
    expect(seen.risk).toBe(risk);
    expect(seen.confirm === null).toBe(risk === "medium");
  });

  test("names the channel for rules, and shows the whole text", async () => {
    const seen = await judged({ ...POST, channel: "project-alpha", text: "a\u202eb" });
    expect(seen.reached).toEqual([{ kind: "recipient", address: "#project-alpha" }]);
    expect(seen.presented).toBe("To: #project-alpha\n\na\\u{202e}b");
  });

  test("is posted once though its answer was lost, and found after a crash", async () => {
    const world = memoryAssistant();
    world.fail("slack.post", { type: "network", after: true });
    const { lookup } = world.tool("slack_post_message");
    expect(await lookup?.(POST, CRASHED)).toBeNull();
    const { data } = await world.use("slack_post_message", POST);
    expect(data).toEqual({
      posted: true,
      channel: "#project-alpha",
      ts: "1763280000.000100",
      link: "retinue:slack/1763280000.000100",
      timestamp: "2025-11-16T09:00:00+01:00",
    });
    expect(world.posts).toHaveLength(1);
    expect(JSON.parse(String((await lookup?.(POST, CRASHED)) ?? ""))).toEqual(data);
  });

  test("into a channel that is not there is refused", async () => {
    const { error } = await memoryAssistant().use("slack_post_message", { ...POST, channel: "#nowhere" });
    expect(error).toMatchObject({ type: "params", tool: "slack_post_message" });
  });
});

describe("what was said", () => {
  const kinds = (...messages: SlackMessage[]) => {
    const statements = findStatements(messages);
    const texts = (wanted: string) =>
      statements.filter(({ kind }) => kind === wanted).map(({ text }) => text);
    return {
      decisions: texts("decisions"),
      open: texts("open_questions"),
      actions: texts("action_items"),
    };
  };

  test.each([
    "We decided to ship on Friday.",
    "We’ll go with Postgres.",
    "Let's go with option B.",
    "Decision: no new release in December.",
    "Agreed to move the deadline to the 20th.",
  ])("'%s' is a decision", (text) => {
    expect(kinds(said("a", text)).decisions).toEqual([text]);
  });

  test.each([
    "We haven't decided yet.",
    "Have we decided on the date?",
    "Nothing was agreed.",
    "Once we have decided, tell them.",
    "I like the colour.",
  ])("'%s' is not a decision", (text) => {
    expect(kinds(said("a", text)).decisions).toEqual([]);
  });

  test("a bare agreement says to what", () => {
    const first = said("mei", "Ship on Friday with the flag off.");
    const thread = { threadTs: first.ts };
    expect(kinds({ ...first, ...thread }, said("jonas", "Agreed.", thread)).decisions).toEqual([
      "Agreed. (mei: Ship on Friday with the flag off.)",
    ]);
  });

  test("a ticked statement is a decision, a ticked question is answered", () => {
    const ticked = { reactions: [{ name: "white_check_mark", count: 2 }] };
    expect(kinds(said("a", "Postgres it is, with one replica.", ticked)).decisions).toHaveLength(1);
    expect(kinds(said("a", "Do we need a replica?", ticked)).open).toEqual([]);
  });

  test("a question stays open until somebody else answers in its thread", () => {
    const asked = said("mei", "Who owns the migration?");
    const thread = { threadTs: asked.ts };
    const question = { ...asked, ...thread };
    expect(kinds(question).open).toHaveLength(1);
    expect(kinds(question, said("mei", "It is urgent.", thread)).open).toHaveLength(1);
    expect(kinds(question, said("jonas", "Good question.", thread)).open).toHaveLength(1);
    expect(kinds(question, said("jonas", "Is it urgent for you?", thread)).open).toHaveLength(2);
    expect(kinds(question, said("jonas", "Priya does.", thread)).open).toEqual([]);
    expect(kinds(question, said("jonas", "I do. @priya could you help?", thread)).open).toEqual([]);
    expect(kinds(question, said("jonas", "Priya does.")).open).toHaveLength(1);
  });

  test.each([
    "I'll send the numbers by Thursday.",
    "Can you review the contract by Friday?",
    "@jonas please update the board.",
    "TODO: ask legal.",
  ])("'%s' is something to do, and no open question", (text) => {
    expect(kinds(said("a", text))).toEqual({ decisions: [], open: [], actions: [text] });
  });

  test("'I'll be late' promises nothing", () => {
    expect(kinds(said("a", "I'll be late today.")).actions).toEqual([]);
  });

  test("an endless sentence is judged by its beginning", () => {
    const text = `We decided to ship. ${"Not ".repeat(10_000)}decided`;
    expect(kinds(said("a", text)).decisions).toEqual(["We decided to ship."]);
  });
});

test("slack_analyze_conversation gives people, topics, decisions, questions and tasks with links", async () => {
  const world = memoryAssistant();
  const first = said("mei", "The budget review moves to Thursday. Who brings the vendor contract?");
  const root = { ...first, threadTs: first.ts, replies: 1 };
  world.messages.push(
    root,
    said("jonas", "Is the vendor contract signed yet?", { threadTs: first.ts }),
    said("priya", "We decided to postpone the budget review."),
    said("priya", "I'll tell the vendor \u200b today."),
  );
  const { data } = await world.use("slack_analyze_conversation", {
    channel: "#project-alpha",
    time_range: "7d",
  });
  expect(data).toMatchObject({
    channel: "#project-alpha",
    period: { from: "2026-11-09T09:00:00+01:00", to: "2026-11-16T09:00:00+01:00" },
    message_count: 4,
    participants: [
      { user: "priya", messages: 2 },
      { user: "jonas", messages: 1 },
      { user: "mei", messages: 1 },
    ],
    decisions: [
      { text: "We decided to postpone the budget review.", user: "priya", link: expect.any(String) },
    ],
    open_questions: [
      { text: "Who brings the vendor contract?", user: "mei", link: root.link },
      { text: "Is the vendor contract signed yet?", user: "jonas", link: expect.any(String) },
    ],
    action_items: [
      { text: "I'll tell the vendor \\u{200b} today.", user: "priya", link: expect.any(String) },
    ],
  });
  const topics = (data.topics as { topic: string; messages: number }[]).map(({ topic }) => topic);
  expect(topics).toContain("budget review");
  expect(topics).toContain("vendor contract");
  expect(data.summary).toContain("4 messages by 3 people in #project-alpha.");
});

test("an empty channel is reported as empty", async () => {
  const { data } = await memoryAssistant().use("slack_analyze_conversation", { channel: "#project-alpha" });
  expect(data).toMatchObject({ message_count: 0, topics: [], decisions: [] });
  expect(data.summary).toBe("There are no messages in #project-alpha in this time.");
});

test("messages of a channel come with their threads if wanted, and stay short enough", async () => {
  const world = memoryAssistant();
  const first = said("mei", "Who?");
  world.messages.push(
    { ...first, threadTs: first.ts, replies: 1 },
    said("jo", "Me.", { threadTs: first.ts }),
  );
  const texts = ({ data }: Awaited<ReturnType<typeof world.use>>) =>
    (data.messages as { text: string }[]).map(({ text }) => text);
  const input = { channel: "#project-alpha" };
  expect(texts(await world.use("slack_get_channel_messages", input))).toEqual(["Who?"]);
  const threads = await world.use("slack_get_channel_messages", { ...input, include_threads: true });
  expect(texts(threads)).toEqual(["Who?", "Me."]);
  for (let at = 0; at < 60; at++) world.messages.push(said("mei", "x".repeat(4_000)));
  const { data } = await world.use("slack_get_channel_messages", input);
  expect(JSON.stringify(data).length).toBeLessThan(28_500);
  expect(data).toMatchObject({ more: true, total: 61, left_out: expect.any(Number) });
});

describe("a direct conversation", () => {
  const world = async (channel: object, user: object = {}) => {
    const made = memoryAssistant();
    const slack = await made.assistant.open("slack");
    const dana = { id: "U1", name: "dana", realName: "Dana", isBot: false, ...user };
    const found = { id: "D1", name: "@dana", isShared: false, ...channel };
    Object.assign(slack, { channel: async () => found, user: async () => dana });
    return made;
  };
  const judge = async (made: Awaited<ReturnType<typeof world>>, channel: string) => {
    const { confirm, access } = made.tool("slack_post_message");
    const input = { channel, text: "Hello." };
    return { reached: await access(input, ROOTS), confirm: await confirm?.(input, ROOTS) };
  };

  test.each(["@dana", "<@U1>", "D0123456"])("named %s is with a person, not a channel", async (channel) => {
    const { reached } = await judge(await world({}), channel);
    expect(reached).toEqual([{ kind: "recipient", address: "@dana" }]);
  });

  test.each(["@dana", "<@U1>", "D0123456"])("named %s with a stranger is confirmed", async (channel) => {
    const email = { email: "dana@acme.example" };
    expect((await judge(await world({}, email), channel)).confirm).toContain("external: dana@acme.example");
    expect((await judge(await world({ isShared: true }), channel)).confirm).toContain("another organisation");
  });

  test("that is with somebody else than the person found is refused", async () => {
    const { error } = await (await world({ name: "@eve" })).use("slack_post_message", {
      channel: "@dana",
      text: "Hello.",
    });
    expect(error?.type).toBe("params");
  });

  test("is shown by its partner", async () => {
    const { data } = await (await world({})).use("slack_get_channel_messages", { channel: "@dana" });
    expect(data.channel).toBe("@dana");
  });
});

test("a search that could not look everywhere says so", async () => {
  const world = memoryAssistant();
  const search = async () => ({ messages: [], total: 0, note: "looked only at 20 channels" });
  Object.assign(await world.assistant.open("slack"), { search });
  const { data } = await world.use("slack_search_messages", { query: "plan" });
  expect(data).toEqual({ messages: [], total: 0, note: "looked only at 20 channels" });
});

test("one message with an impossible time does not hide the others", async () => {
  const world = memoryAssistant();
  world.messages.push(said("mei", "Hello."), { ...said("eve", "Boo."), ts: "9999999999999999.1" });
  const { data } = await world.use("slack_get_channel_messages", { channel: "#project-alpha" });
  expect(data.total).toBe(2);
});

describe("a flood of words", () => {
  const COUNT = process.env.RETINUE_DEEP ? 200 : 40;
  const flood = (text: string) => Array.from({ length: COUNT }, (_, at) => said(`u${at % 7}`, text));

  test.each([
    ["questions", "Is it so now? ".repeat(2_000)],
    ["agreement", "Agreed. ".repeat(4_000)],
    ["one endless word", "a".repeat(40_000)],
    ["dashes", `a${"-".repeat(40_000)}b`],
    ["nothing visible", "\u200b".repeat(40_000)],
  ])("of %s is read through, and the answer stays short", async (_name, text) => {
    const world = memoryAssistant();
    const first = said("mei", "Who?");
    const thread = flood(text).map((message) => ({ ...message, threadTs: first.ts }));
    world.messages.push(first, ...thread);
    const input = { channel: "#project-alpha", thread_ts: first.ts };
    const { data } = await world.use("slack_analyze_conversation", input);
    expect(data.message_count).toBe(COUNT + 1);
    expect(JSON.stringify(data).length).toBeLessThan(28_000);
    const read = await world.use("slack_get_thread_replies", input);
    expect(JSON.stringify(read.data).length).toBeLessThan(28_000);
  });

  test("by many people with long names is counted right", async () => {
    const world = memoryAssistant();
    const link = `https://example.com/${"l".repeat(300)}`;
    for (let at = 0; at < 70; at++)
      for (const text of ["We decided to ", "I'll do ", "Who did "])
        world.messages.push(
          said(`${at}${'"'.repeat(200)}`, `${text}${'"'.repeat(300)}${text.startsWith("Who") ? "?" : "."}`, {
            link,
          }),
        );
    const { data } = await world.use("slack_analyze_conversation", { channel: "#project-alpha" });
    expect(JSON.stringify(data).length).toBeLessThan(28_000);
    expect(data.summary).toContain("210 messages by 70 people");
    expect(data.left_out).toBeGreaterThan(0);
  });
});
