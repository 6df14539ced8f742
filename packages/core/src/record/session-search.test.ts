import { expect, test } from "vitest";
import type { SessionRow } from "../schema/record.ts";
import { matchSession, type SearchedRun, splitSearch } from "./session-search.ts";

const SESSION: SessionRow = {
  ...{ session_id: "ses_1", title: "A Title", project: "/shop", workspace: "/w", metadata_json: null },
  ...{ created_at: "", updated_at: "", status: "running" },
};

test("words are few, short and each only once", () => {
  expect(splitSearch('  A a "b  c" ""  d"e f" ')).toEqual(["a", "b  c", 'd"e', 'f"']);
  expect(splitSearch(Array.from({ length: 50 }, (_, index) => `w${index}`).join(" "))).toHaveLength(8);
  expect(splitSearch("x".repeat(10_000))[0]).toHaveLength(200);
});

test("runs are not read if the session's own texts have every word", () => {
  const runs: Iterable<SearchedRun> = {
    [Symbol.iterator]: () => expect.fail("runs were read"),
  };
  expect(matchSession(SESSION, ["title", "shop", "ses_"], runs)).toBe("row");
  expect(matchSession(SESSION, [], runs)).toBe("row");
});

test("the place of the last missing word is named, with some words around it", () => {
  const runs = [
    { agent: "main", task: "find an Apple", answer: null },
    { agent: null, task: null, answer: `${"x ".repeat(300)}a\n  \ud800pear${" y".repeat(300)}` },
  ];
  expect(matchSession(SESSION, ["apple", "title"], runs)).toEqual({
    ...{ agent: "main", in: "task", excerpt: "find an Apple" },
  });
  const match = matchSession(SESSION, ["pear", "apple"], runs);
  expect(match).toMatchObject({ agent: "?", in: "answer" });
  expect(match).toMatchObject({ excerpt: expect.stringMatching(/^…[ x]+a \ufffdpear[ y]+…$/) });
  expect(matchSession(SESSION, ["pear", "plum"], runs)).toBeUndefined();
});
