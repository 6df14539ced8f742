import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { putChannel } from "./embedded-slack.ts";
import { type EmbeddedStore, openEmbedded } from "./embedded-store.ts";
import { importFolder } from "./import-files.ts";

const NOW = Date.parse("2026-11-16T09:00:00Z");
const { signal } = new AbortController();
const EXAMPLES = fileURLToPath(new URL("../../../../examples/assistant/", import.meta.url));

async function openStore(): Promise<EmbeddedStore> {
  const store = openEmbedded({ file: ":memory:", now: () => NOW, zone: "UTC" });
  expect((await importFolder(store, EXAMPLES)).problems).toEqual([]);
  return store;
}

test("a channel is found by name, `#name` and id, and near names are offered", async () => {
  const { slack } = await openStore();
  for (const name of ["#project-alpha", "project-alpha", "Project-Alpha", "C02ALPHA"])
    expect(await slack.channel(name, signal)).toMatchObject({ id: "C02ALPHA", name: "project-alpha" });
  await expect(slack.channel("#projekt-alfa", signal)).rejects.toThrow("near: #project-alpha");
});

test("the newest top-level messages come oldest first, threads only by their first message", async () => {
  const { slack } = await openStore();
  const { messages, more } = await slack.messages("C02ALPHA", { limit: 3 }, signal);
  expect(more).toBe(true);
  expect(messages.map(({ user }) => user.name)).toEqual(["alex", "priya", "mei"]);
  expect(messages[0]).toMatchObject({ threadTs: messages[0]?.ts, replies: 5 });
  expect(messages[1]?.text).toContain("@here notes");
  expect(messages[1]?.text).toContain("#general");
});

test("a span of time bounds the messages", async () => {
  const { slack } = await openStore();
  const oldest = Date.parse("2026-11-13T00:00:00Z") / 1000;
  const { messages, more } = await slack.messages("C02ALPHA", { oldest, limit: 50 }, signal);
  expect(more).toBe(false);
  expect(messages).toHaveLength(3);
  expect(messages.every(({ ts }) => Number(ts) >= oldest)).toBe(true);
});

test("a thread is its first message and its replies", async () => {
  const { slack } = await openStore();
  const [first] = (await slack.messages("C02ALPHA", { oldest: 1_794_560_000, limit: 50 }, signal)).messages;
  const { messages } = await slack.replies("C02ALPHA", first?.ts ?? "", 50, signal);
  expect(messages).toHaveLength(6);
  expect(messages[0]?.ts).toBe(first?.ts);
  expect(messages[1]?.threadTs).toBe(first?.ts);
  expect((await slack.replies("C02ALPHA", first?.ts ?? "", 2, signal)).more).toBe(true);
  await expect(slack.replies("C02ALPHA", "1.000000", 5, signal)).rejects.toMatchObject({ type: "params" });
});

test("a search finds words, newest first, in one channel and from one person", async () => {
  const { slack } = await openStore();
  const all = await slack.search({ text: "progress bar", limit: 10 }, signal);
  expect(all.total).toBe(5);
  expect(all.messages.map(({ ts }) => ts)).toEqual(
    all.messages
      .map(({ ts }) => ts)
      .toSorted()
      .reverse(),
  );
  expect((await slack.search({ text: "progress bar", from: "@mei", limit: 10 }, signal)).total).toBe(2);
  expect((await slack.search({ text: "review", channel: "#general", limit: 10 }, signal)).total).toBe(1);
  expect((await slack.search({ text: "***", limit: 10 }, signal)).total).toBe(0);
  await expect(slack.search({ text: "x", channel: "#no", limit: 1 }, signal)).rejects.toMatchObject({
    type: "params",
  });
});

test("nothing in a search is read as syntax", async () => {
  const { slack } = await openStore();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      expect((await slack.search({ text: `"${text} NOT (`, limit: 3 }, signal)).total).toBeGreaterThanOrEqual(
        0,
      );
    }),
    { numRuns: 50 },
  );
});

test("a person is found by id, name, real name, first name and address", async () => {
  const { slack } = await openStore();
  for (const who of ["U02PRIYA", "@priya", "Priya Nair", "nair", "PRIYA@retinue.example"])
    expect((await slack.user(who, signal)).id).toBe("U02PRIYA");
  await expect(slack.user("Prija", signal)).rejects.toThrow(/near: .*priya/i);
  await expect(slack.user("", signal)).rejects.toMatchObject({ type: "params" });
});

test("a post is kept under the owner's name, once for a call, and found by its key", async () => {
  const { slack } = await openStore();
  const message = { channelId: "C02ALPHA", text: "Meeting moved & booked <3", callKey: "key-1" };
  expect(await slack.findByCallKey(message, signal)).toBeNull();
  const posted = await slack.post(message, signal);
  expect(posted.user).toEqual({ id: "U01ALEX", name: "alex" });
  expect(posted.link).toBe(`retinue:slack/project-alpha/p${posted.ts.replace(".", "")}`);
  expect(await slack.post(message, signal)).toEqual(posted);
  expect(await slack.findByCallKey(message, signal)).toEqual(posted);
  const other = await slack.post({ ...message, callKey: "key-2" }, signal);
  expect(other.ts).not.toBe(posted.ts);
  expect((await slack.search({ text: "booked", limit: 5 }, signal)).total).toBe(2);
});

test("an answer to an answer stays in its thread", async () => {
  const { slack } = await openStore();
  const { messages } = await slack.search({ text: "I take 1 December", limit: 1 }, signal);
  const reply = messages[0];
  const posted = await slack.post(
    { channelId: "C02ALPHA", text: "Thanks", threadTs: reply?.ts ?? "", callKey: "k" },
    signal,
  );
  expect(posted.threadTs).toBe(reply?.threadTs);
});

test("a conversation with a person begins with the first post", async () => {
  const { slack } = await openStore();
  const direct = await slack.channel("@jonas", signal);
  expect(direct).toMatchObject({ name: "@jonas", id: expect.stringMatching(/^D/) });
  expect((await slack.messages(direct.id, { limit: 5 }, signal)).messages).toEqual([]);
  await slack.post({ channelId: direct.id, text: "Hi", callKey: "k" }, signal);
  expect((await slack.messages(direct.id, { limit: 5 }, signal)).messages).toHaveLength(1);
});

test("an empty or endless text is refused", async () => {
  const { slack } = await openStore();
  for (const text of ["  ", "x".repeat(40_001)])
    await expect(slack.post({ channelId: "C02ALPHA", text, callKey: "k" }, signal)).rejects.toMatchObject({
      type: "params",
    });
});

test("of names that differ only in case the exact one is meant, and none if neither is exact", async () => {
  const store = await openStore();
  for (const [id, name] of [
    ["C8", "Général"],
    ["C9", "ｇeneral"],
  ] as const)
    putChannel(store.database(), { id, name, kind: "public", isShared: true, members: [] });
  expect(await store.slack.channel("#general", signal)).toMatchObject({ id: "C01GENERAL" });
  expect(await store.slack.channel("Général", signal)).toMatchObject({ id: "C8" });
  await expect(store.slack.channel("#GENERAL", signal)).rejects.toThrow("several channels");
});

test("comparison signs in a post are shown as written", async () => {
  const { slack } = await openStore();
  const text = "if a < b and c > d, see <https://retinue.example|this> for <b>x</b>";
  const posted = await slack.post({ channelId: "C02ALPHA", text, callKey: "signs" }, signal);
  expect(posted.text).toBe("if a < b and c > d, see this (https://retinue.example) for <b>x</b>");
});

test("words of scripts without spaces are found within a sentence", async () => {
  const { slack } = await openStore();
  await slack.post({ channelId: "C02ALPHA", text: "明日の会議について", callKey: "kanji" }, signal);
  expect((await slack.search({ text: "会議", limit: 5 }, signal)).total).toBe(1);
  expect((await slack.search({ text: "会議 lunch", limit: 5 }, signal)).total).toBe(0);
});
