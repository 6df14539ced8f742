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
