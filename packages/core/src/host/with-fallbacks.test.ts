import { expect, test } from "vitest";
import type { CallableModel } from "../run/model/callable-model.ts";
import { RetinueError } from "../schema/error.ts";
import { scriptedModel } from "../testing/index.ts";
import { withFallbacks } from "./with-fallbacks.ts";

const noKey = new RetinueError("auth", "no key is set", "set one");

/** Finds models by the ids behind some names; of others none is set up. */
function finder(ids: Readonly<Record<string, string>>) {
  return async (name: string): Promise<CallableModel> => {
    const id = ids[name];
    if (id === undefined) throw noKey;
    return { id, provider: "p", model: scriptedModel(name, []), price: null };
  };
}

const namesOf = ({ fallbacks = [] }: CallableModel) => fallbacks.map(({ id }) => id);

test("a model has the fallbacks of its id, or else of the name that was asked for", async () => {
  const find = finder({ smart: "p/one", "p/two": "p/two", "p/three": "p/three" });
  const fallbacks = { "p/one": ["p/two"], smart: ["p/three"] };
  expect(namesOf(await withFallbacks("smart", fallbacks, find))).toEqual(["p/two"]);
  expect(namesOf(await withFallbacks("smart", { smart: ["p/three"] }, find))).toEqual(["p/three"]);
  expect(namesOf(await withFallbacks("p/two", fallbacks, find))).toEqual([]);
});

test("a model that is not set up stays first, and each call of it says what is missing", async () => {
  const made = await withFallbacks("first", { first: ["second"] }, finder({ second: "p/second" }));
  expect([made.id, namesOf(made)]).toEqual(["first", ["p/second"]]);
  await expect(made.model.doStream({ prompt: [] })).rejects.toThrow("no key is set (set one)");
});

test("where none is set up, the first one's error is thrown; a fault that is none of the settings always is", async () => {
  await expect(withFallbacks("first", { first: ["second"] }, finder({}))).rejects.toBe(noKey);
  const broken = new TypeError("a fault of the program");
  const find = () => Promise.reject(broken);
  await expect(withFallbacks("first", { first: ["second"] }, find)).rejects.toBe(broken);
  const first = finder({ first: "p/first" });
  const findFirst = (name: string) => (name === "first" ? first(name) : find());
  await expect(withFallbacks("first", { first: ["second"] }, findFirst)).rejects.toBe(broken);
});

test("where only a model that would take over is not set up, it stays in its place and says so when it is called", async () => {
  const made = await withFallbacks(
    "first",
    { first: ["second", "third"] },
    finder({ first: "p/first", third: "p/third" }),
  );
  expect([made.id, namesOf(made)]).toEqual(["p/first", ["second", "p/third"]]);
  await expect(made.fallbacks?.[0]?.model.doStream({ prompt: [] })).rejects.toThrow(
    "no key is set (set one)",
  );
});

test("a model that stands alone is not wrapped, whether it is found or not", async () => {
  const find = finder({ first: "p/first" });
  expect((await withFallbacks("first", undefined, find)).fallbacks).toBeUndefined();
  expect((await withFallbacks("first", { other: ["second"] }, find)).fallbacks).toBeUndefined();
  await expect(withFallbacks("second", undefined, find)).rejects.toBe(noKey);
  await expect(withFallbacks("second", { other: ["first"] }, find)).rejects.toBe(noKey);
});

test("a name that every object has names no fallbacks", async () => {
  const made = await withFallbacks("constructor", { other: ["second"] }, finder({ constructor: "p/c" }));
  expect(made.fallbacks).toBeUndefined();
});

test("a model that is not set up fails as a fault of the settings, without being asked again", async () => {
  const { model, price, provider } = await withFallbacks(
    "p/first",
    { "p/first": ["b"] },
    finder({ b: "p/b" }),
  );
  expect([provider, price]).toEqual(["p", null]);
  await expect(model.doGenerate({ prompt: [] })).rejects.toMatchObject({ type: "config", cause: noKey });
});
