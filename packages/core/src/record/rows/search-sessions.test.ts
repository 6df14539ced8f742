import { afterEach, beforeEach, expect, test } from "vitest";
import { writeSession } from "../../../../../test/fixtures/recorded-session.ts";
import { createStore, type Store } from "../create-store.ts";
import { recordOver } from "../sqlite/create-sqlite-record.ts";
import { splitSearch } from "./search-sessions.ts";

let store: Store;
beforeEach(async () => {
  let now = Date.parse("2026-03-10T00:00:00Z");
  store = createStore({ path: ":memory:", now: () => (now += 60_000) });
  await writeSession(recordOver(store), {
    sessionId: "ses_one",
    title: "100% done",
    project: "/shop",
    runs: [
      {
        agent: "main",
        task: "find Über things",
        from: 0,
        to: 2_000,
        answer: "nothing",
        runs: [
          {
            agent: "scout",
            task: "look",
            from: 100,
            to: 900,
            answer: `${"x ".repeat(300)}the needle is here`,
          },
        ],
      },
    ],
  });
  await writeSession(recordOver(store), {
    sessionId: "ses_two",
    title: "100 things",
    project: "/other",
    status: "failed",
    runs: [
      { agent: "main", task: "a", from: 0, to: 1_000, costUsd: null },
      { agent: "main", task: "b", from: 500, to: 1_500 },
    ],
  });
});
afterEach(() => store.shutdown());

const found = (search: string) =>
  store.searchSessions({ search }).sessions.map(({ session_id }) => session_id);

test("every word must be somewhere in title, project, id, tasks or answers", () => {
  expect(found("")).toEqual(["ses_two", "ses_one"]);
  expect(found("things")).toEqual(["ses_two", "ses_one"]);
  expect(found("done needle")).toEqual(["ses_one"]);
  expect(found("needle other")).toEqual([]);
  expect(found("über")).toEqual(["ses_one"]);
  expect(found('"needle is"')).toEqual(["ses_one"]);
  expect(found('"is needle"')).toEqual([]);
  expect(found("SES_TWO")).toEqual(["ses_two"]);
});

test.each(["%", "_", "0%", "'; DROP TABLE sessions; --", '"', '""', "\\", "* OR x", "\u0000"])(
  "%j is only a text to look for",
  (text) => {
    expect(() => found(text)).not.toThrow();
    expect(store.sessions()).toHaveLength(2);
  },
);

test("signs that mean something elsewhere mean themselves here", () => {
  expect(found("0%")).toEqual(["ses_one"]);
  expect(found("1_0")).toEqual([]);
});

test("where it was found is said if the list would not show it", () => {
  const [session] = store.searchSessions({ search: "needle" }).sessions;
  expect(session?.found).toMatchObject({ agent: "scout", in: "answer" });
  expect(session?.found?.excerpt).toMatch(/^….*the needle is here$/);
  expect(store.searchSessions({ search: "100%" }).sessions[0]).not.toHaveProperty("found");
});

test("project, status, time and number narrow the list", () => {
  const ids = (query: Parameters<Store["searchSessions"]>[0]) =>
    store.searchSessions(query).sessions.map(({ session_id }) => session_id);
  expect(ids({ project: "/shop" })).toEqual(["ses_one"]);
  expect(ids({ status: "failed" })).toEqual(["ses_two"]);
  expect(ids({ limit: 1 })).toEqual(["ses_two"]);
  const [two] = store.sessions({ limit: 1 });
  expect(ids({ sinceMs: Date.parse(two?.updated_at ?? "") })).toEqual(["ses_two"]);
  expect(ids({ search: "things", project: "/shop", limit: 5 })).toEqual(["ses_one"]);
});

test("figures of a session come from its runs; tasks at once count their time once", () => {
  expect(store.sessionFigures("ses_one")).toMatchObject({ agent: "main", runs: 2, agents: 2, depth: 1 });
  expect(store.sessionFigures("ses_two")).toMatchObject({ runs: 2, cost_usd: null, duration_ms: 1_500 });
  expect(store.sessionFigures("none")).toMatchObject({ agent: null, runs: 0, cost_usd: 0, duration_ms: 0 });
});

test("a run that has not ended leaves the cost of its session known", async () => {
  const runs = [
    { agent: "main", task: "a", from: 0, to: 1_000, costUsd: 0.5 },
    { agent: "main", task: "b", from: 500 },
  ];
  await writeSession(recordOver(store), { sessionId: "ses_open", title: "x", status: "running", runs });
  expect(store.sessionFigures("ses_open")).toMatchObject({ runs: 2, cost_usd: 0.5 });
});

test("words are few, short and each only once", () => {
  expect(splitSearch('  A a "b  c" ""  d"e f" ')).toEqual(["a", "b  c", 'd"e', 'f"']);
  expect(splitSearch(Array.from({ length: 50 }, (_, index) => `w${index}`).join(" "))).toHaveLength(8);
  expect(splitSearch("x".repeat(10_000))[0]).toHaveLength(200);
});
