import { expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../settings/default-settings.ts";
import { accountLimits, effectiveLimits } from "./effective-limits.ts";

const NONE = { limits: undefined, by: "model" } as const;
const settings = { ...DEFAULT_SETTINGS, limits: { turns: 30, perTool: { grep: 4, read: 6 } } };

test("an agent's limits come before those of the settings, and these before the defaults", () => {
  const limits = effectiveLimits({ limits: { turns: 7, perTool: { grep: 9 } } }, NONE, settings);
  expect(limits).toMatchObject({ turns: 7, toolCalls: 200, perTool: { grep: 9, read: 6 } });
  expect(effectiveLimits({ limits: {} }, NONE, settings).turns).toBe(30);
});

test.each(["turns", "toolCalls", "contextChars"] as const)(
  "a model lowers %s and does not raise it; a person's number counts either way",
  (key) => {
    const given = (number: number, by: "model" | "person") =>
      effectiveLimits({ limits: { [key]: 10 } }, { limits: { [key]: number }, by }, settings)[key];
    expect([given(3, "model"), given(50, "model")]).toEqual([3, 10]);
    expect([given(3, "person"), given(50, "person")]).toEqual([3, 50]);
  },
);

test("a model lowers each limit by tool, adds some and raises none, of the agent or of the settings", () => {
  const asked = { perTool: { grep: 2, read: 60, glob: 50, ls: 5 } };
  const agent = { limits: { perTool: { glob: 1 } } };
  const by = (who: "model" | "person") =>
    effectiveLimits(agent, { limits: asked, by: who }, settings).perTool;
  expect(by("model")).toEqual({ grep: 2, read: 6, glob: 1, ls: 5 });
  expect(by("person")).toEqual(asked.perTool);
});

test("a model lowers what an account may spend and does not raise it; without one it gives one", () => {
  const agent = { tokens: 100, spawns: 2 };
  const given = { tokens: 500, spawns: 1, costUsd: 3 };
  expect(accountLimits(agent, { limits: given, by: "model" })).toEqual({
    tokens: 100,
    spawns: 1,
    costUsd: 3,
  });
  expect(accountLimits(agent, { limits: given, by: "person" })).toEqual(given);
  expect(accountLimits(agent)).toEqual(agent);
});

test("a person's number of calls makes room for the turns that they take, unless the turns are given as well", () => {
  const turns = (limits: object, by: "model" | "person" = "person") =>
    effectiveLimits({ limits: { turns: 10 } }, { limits, by }, settings).turns;
  expect(turns({ toolCalls: 50 })).toBe(55);
  expect(turns({ toolCalls: 2 })).toBe(10);
  expect(turns({ toolCalls: 50, turns: 12 })).toBe(12);
  expect(turns({ toolCalls: 50 }, "model")).toBe(10);
});

test("the settings' scale suits an agent's own limits to a model, and no limit that was given", () => {
  const scaled = (agent: object, scale: number, limits = {}) =>
    effectiveLimits({ limits: agent }, { limits, by: "person" }, { ...settings, limits: { scale } });
  expect(scaled({ turns: 3, minutes: 1.5 }, 1.5)).toMatchObject({ turns: 5, timeoutMs: 135_000 });
  expect(scaled({ turns: 1, toolCalls: 0, minutes: 1 }, 0.1)).toMatchObject({
    ...{ turns: 1, toolCalls: 0, timeoutMs: 6_000 },
  });
  expect(scaled({ turns: 3 }, 2, { turns: 4 }).turns).toBe(4);
});
