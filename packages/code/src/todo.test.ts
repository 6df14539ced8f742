import { validateInput } from "@retinue/core/tools/validate-input";
import { expect, test } from "vitest";
import { toolPlace } from "../../../test/fixtures/use-tool.ts";
import { todo } from "./todo.ts";

const item = (text: string, status = "pending") => ({ text, status });

test("the list is kept for its run, replaced whole, and given back as text", async () => {
  const place = toolPlace();
  const first = { items: [item("read", "done"), item("write\nmore", "in_progress"), item("test")] };
  expect((await place.use(todo, first, { runId: "run_1" })).text).toBe(
    "1 of 3 done\n[x] read\n[>] write more\n[ ] test",
  );
  expect((await place.use(todo, { items: [item("test", "done")] }, { runId: "run_2" })).text).toBe(
    "1 of 1 done\n[x] test",
  );
  expect((await place.use(todo, { items: [item("test", "done")] }, { runId: "run_1" })).text).toBe(
    "1 of 1 done\n[x] test\n(1 unfinished items of the list before are not in this one)",
  );
  expect((await place.use(todo, { items: [] }, { runId: "run_1" })).text).toBe("the list is empty");
  place.remove();
});

test("lists of runs long ago are forgotten", async () => {
  const place = toolPlace();
  await place.use(todo, { items: [item("a")] }, { runId: "old" });
  for (let at = 0; at < 1_000; at++) await place.use(todo, { items: [item("b")] }, { runId: `later_${at}` });
  const replace = async (runId: string) => (await place.use(todo, { items: [item("c")] }, { runId })).text;
  expect(await replace("old")).toBe("0 of 1 done\n[ ] c");
  expect(await replace("later_999")).toContain("1 unfinished items of the list before are not in this one");
  place.remove();
});

test.each([
  [{}, /items/],
  [{ items: [{ text: "a" }] }, /status/],
  [{ items: [item("a", "maybe")] }, /status|enum/],
  [{ items: Array.from({ length: 101 }, () => item("a")) }, /items/],
])("a list of another shape is refused", async (input, why) => {
  const checked = await validateInput(todo, JSON.stringify(input));
  expect(checked.ok ? "" : checked.message).toMatch(why);
});
