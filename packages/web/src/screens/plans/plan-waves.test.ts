import { expect, test } from "vitest";
import { assignColumns, directNeeds, sortIntoWaves } from "./plan-waves.ts";

const step = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });
const ids = (waves: readonly (readonly { id: string }[])[]) => waves.map((wave) => wave.map(({ id }) => id));

test("steps that wait for nothing come first, and every other step right after all that it waits for", () => {
  const steps = [
    step("review", "code", "test"),
    step("read"),
    step("look"),
    step("code", "read"),
    step("test", "code"),
  ];
  expect(ids(sortIntoWaves(steps))).toEqual([["read", "look"], ["code"], ["test"], ["review"]]);
});

test("steps in a circle and steps with an unknown need are still drawn", () => {
  expect(ids(sortIntoWaves([step("a", "b"), step("b", "a"), step("c", "gone"), step("d", "d")]))).toEqual([
    ["c", "d"],
    ["a", "b"],
  ]);
  expect(sortIntoWaves([])).toEqual([]);
});

test("a step is placed below what it waits for, and no two steps overlap", () => {
  const waves = sortIntoWaves([step("a"), step("b"), step("c", "a"), step("d", "b", "c")]);
  expect([...assignColumns(waves)]).toEqual([
    ["a", 0],
    ["b", 2],
    ["c", 0],
    ["d", 1],
  ]);
  const crowded = assignColumns(sortIntoWaves([step("a"), step("b", "a"), step("c", "a"), step("d", "a")]));
  expect([...crowded]).toEqual([
    ["a", 2],
    ["b", 0],
    ["c", 2],
    ["d", 4],
  ]);
});

test("a need that another need implies is not drawn", () => {
  const needs = directNeeds([step("a"), step("b", "a"), step("c", "a", "b"), step("d", "c", "a", "gone")]);
  expect(Object.fromEntries(needs)).toEqual({ a: [], b: ["a"], c: ["b"], d: ["c", "gone"] });
});

test("needs in a circle are still drawn", () => {
  expect(Object.fromEntries(directNeeds([step("a", "b"), step("b", "a")]))).toEqual({ a: ["b"], b: ["a"] });
});
