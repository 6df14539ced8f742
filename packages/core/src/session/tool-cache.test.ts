import { expect, test } from "vitest";
import { createToolCache } from "./tool-cache.ts";

const output = (text: string) => ({ text, tainted: false });

test("an output comes back as it was kept, with its taint", () => {
  const cache = createToolCache();
  cache.set("page", { text: "a page", tainted: true });
  expect(cache.get("page")).toEqual({ text: "a page", tainted: true });
  expect(cache.get("other")).toBeUndefined();
});

test("of more than 500 outputs the one that was used longest ago goes", () => {
  const cache = createToolCache();
  for (let index = 0; index < 500; index++) cache.set(`${index}`, output("x"));
  cache.get("0");
  cache.set("one more", output("x"));
  expect(cache.get("0")).toBeDefined();
  expect(cache.get("1")).toBeUndefined();
  expect(cache.get("2")).toBeDefined();
});

test("a very long output is not kept", () => {
  const cache = createToolCache();
  cache.set("long", output("x".repeat(64_001)));
  cache.set("short", output("x".repeat(64_000)));
  expect([cache.get("long"), cache.get("short")?.text.length]).toEqual([undefined, 64_000]);
});
