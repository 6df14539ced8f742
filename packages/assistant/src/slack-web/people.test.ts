import { expect, test } from "vitest";
import type { JsonObject } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { createChannels } from "./channels.ts";
import { fetchHistory, fetchThread, readSlackMessages } from "./history.ts";
import { buildMessageLink, createPeople } from "./people.ts";
import type { SlackApi } from "./slack-api.ts";

const { signal } = new AbortController();
const USERS = [
  {
    id: "U0000001",
    name: "priya",
    team_id: "T1",
    profile: { real_name: "Priya Nair", email: "p@a.example" },
  },
  { id: "U0000002", name: "sam", team_id: "T2", profile: { real_name: "Sam Reed", display_name: "Sammy" } },
  { id: "U0000003", name: "gone", team_id: "T1", deleted: true, profile: {} },
];
const CHANNELS = [
  { id: "C0000001", name: "general", is_member: true },
  { id: "C0000002", name: "partners", is_ext_shared: true },
];

/** Slack's methods over plain data; `asked` has every request. */
function fakeApi(more: Record<string, (args: JsonObject) => JsonObject> = {}) {
  const asked: string[] = [];
  const answers: Record<string, (args: JsonObject) => JsonObject> = {
    "auth.test": () => ({ url: "https://acme.slack.example", team_id: "T1" }),
    "users.list": () => ({ members: USERS }),
    "users.info": ({ user }) => {
      const found = USERS.find(({ id }) => id === user);
      if (!found) throw new ToolFault("params", "there is no such person");
      return { user: found };
    },
    "conversations.list": () => ({ channels: CHANNELS }),
    "conversations.open": () => ({ channel: { id: "D0000001" } }),
    ...more,
  };
  const api: SlackApi = {
    canSearch: false,
    now: () => 1_000_000,
    refresh: async () => undefined,
    async call(method, args) {
      asked.push(method);
      const answer = answers[method];
      if (!answer) throw new Error(`nothing answers ${method}`);
      return answer(args);
    },
  };
  const people = createPeople(api);
  return { api, asked, people, channels: createChannels(api, people) };
}

test("people are found by id, name, shown name and real name, and who is of another team is outside", async () => {
  const { people, asked } = fakeApi();
  expect(await people.find("U0000001", signal)).toMatchObject({ realName: "Priya Nair", isOutside: false });
  expect(await people.find("@sammy", signal)).toMatchObject({ id: "U0000002", isOutside: true });
  expect(await people.find("Sam Reed", signal)).toMatchObject({ id: "U0000002" });
  expect(asked.filter((method) => method === "users.list")).toHaveLength(1);
  await expect(people.find("gone", signal)).rejects.toMatchObject({ type: "params" });
  await expect(people.find("pria nair", signal)).rejects.toThrow("near: Priya Nair");
});

test("names are learnt once, and an id that Slack does not resolve stays an id", async () => {
  const { people, asked } = fakeApi();
  await people.learn(["U0000001", "U0000009", "no id", "U0000001"], signal);
  await people.learn(["U0000001", "U0000009"], signal);
  expect(asked).toEqual(["users.info", "users.info"]);
  expect([people.getName("U0000001"), people.getName("U0000009")]).toEqual(["priya", "U0000009"]);
});

test("channels are found by name, a person's is opened, and those of other organisations are shared", async () => {
  const { channels, asked } = fakeApi();
  expect(await channels.find("#General", signal)).toMatchObject({ id: "C0000001", isShared: false });
  expect(await channels.find("partners", signal)).toMatchObject({ isShared: true });
  expect(await channels.find("@sammy", signal)).toEqual({
    ...{ id: "D0000001", name: "@Sammy", isShared: true },
  });
  expect((await channels.joined(signal)).map(({ name }) => name)).toEqual(["general"]);
  expect(asked.filter((method) => method === "conversations.list")).toHaveLength(1);
  await expect(channels.find("#generale", signal)).rejects.toThrow("near: #general");
});

test("a history is read page by page, without what the system said, up to what is wanted", async () => {
  const pages = [
    [{ ts: "5.000000" }, { ts: "4.000000", subtype: "channel_join" }, { ts: "3.000000" }],
    [{ ts: "2.000000" }, { ts: "1.000000" }],
  ];
  const workspace = fakeApi({
    "conversations.history": ({ cursor }) => ({
      messages: pages[cursor === "next" ? 1 : 0],
      response_metadata: { next_cursor: cursor === "next" ? "" : "next" },
    }),
  });
  const read = async (limit: number) => {
    const wanted = { channelId: "C0000001", range: { limit } };
    const { raws, more } = await fetchHistory(workspace, wanted, signal);
    return [raws.map(({ ts }) => Number(ts)), more];
  };
  expect(await read(10)).toEqual([[5, 3, 2, 1], false]);
  expect(await read(2)).toEqual([[5, 3], true]);
  const nothing = { channelId: "C0000001", threadTs: "soon", limit: 5 };
  await expect(fetchThread(workspace, nothing, signal)).rejects.toMatchObject({ type: "params" });
});

test("a message names its people and has its link, also if nobody can say which workspace it is", async () => {
  const directory = fakeApi();
  const raw = {
    ts: "1.000001",
    user: "U0000001",
    text: "for <@U0000002>",
    reply_count: 2,
    thread_ts: "1.000001",
  };
  const channel = { id: "C0000001", name: "general" };
  const [message] = await readSlackMessages([{ raw, channel }], directory, signal);
  expect(message).toMatchObject({
    ...{ user: { id: "U0000001", name: "priya" }, text: "for @Sammy", replies: 2 },
    link: "https://acme.slack.example/archives/C0000001/p1000001",
  });
  const silent = fakeApi({
    "auth.test": () => {
      throw new ToolFault("network", "no connection");
    },
  });
  expect((await readSlackMessages([{ raw, channel }], silent, signal))[0]?.link).toBeUndefined();
});

test("a link into a thread names the thread", () => {
  expect(
    buildMessageLink("https://a.example/", { channelId: "C1", ts: "2.000000", threadTs: "1.000000" }),
  ).toBe("https://a.example/archives/C1/p2000000?thread_ts=1.000000&cid=C1");
});
