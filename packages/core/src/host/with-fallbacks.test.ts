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
});
