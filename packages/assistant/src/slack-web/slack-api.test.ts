import { expect, test } from "vitest";
import { listAll, type SlackApi } from "./slack-api.ts";

/** A service whose every page names another one. */
function endless(items: readonly object[]): { api: SlackApi; asked: () => number } {
  let asked = 0;
  const call = async () => ({ members: items, response_metadata: { next_cursor: `page-${++asked}` } });
  return { api: { canSearch: false, now: Date.now, call, refresh: async () => {} }, asked: () => asked };
}

const signal = new AbortController().signal;

test("a list of empty pages without an end is not followed forever, and does not pass for a whole one", async () => {
  const { api, asked } = endless([]);
  const found = await listAll(api, { method: "users.list", field: "members", cap: 5_000 }, signal);
  expect(found).toEqual({ items: [], isWhole: false });
  expect(asked()).toBe(100);
});
