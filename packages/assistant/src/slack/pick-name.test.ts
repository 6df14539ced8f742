import { expect, test } from "vitest";
import { findChannelNamed, pickPerson, refuseChannel } from "./pick-name.ts";
import type { SlackUser } from "./slack-provider.ts";

const person = (id: string, name: string, realName: string): SlackUser => ({
  id,
  name,
  realName,
  isBot: false,
});
const DANA = person("U1", "dana", "Dana Ortiz");
const RENEE = person("U2", "renee", "Renée Dana");
const SAM = person("U3", "dana.o", "Dana Ortiz");
const WAYS = [({ name }: SlackUser) => [name], ({ realName }: SlackUser) => [realName]];

test("the first way of naming that fits anybody decides, without regard to case and accents", () => {
  expect(pickPerson("@Dana", [RENEE, DANA], WAYS)).toBe(DANA);
  expect(pickPerson("renee dana", [RENEE, DANA], WAYS)).toBe(RENEE);
});

test("a name of several people is refused with each of them", () => {
  expect(() => pickPerson("Dana Ortiz", [DANA, SAM], WAYS)).toThrow(
    "'Dana Ortiz' may be Dana Ortiz (@dana, U1) or Dana Ortiz (@dana.o, U3); use the id",
  );
});

test("a name of nobody is refused with names that are near, and an empty one is refused", () => {
  expect(() => pickPerson("dahna", [DANA], WAYS)).toThrow(
    "nobody called 'dahna' in this workspace; near: dana",
  );
  expect(() => pickPerson(" @ ", [DANA], WAYS)).toThrow("no person is named");
});

test("of channels that differ only in case the exact one is meant, and none if neither is exact", () => {
  const channels = [
    { id: "C1", name: "general" },
    { id: "C2", name: "General" },
  ];
  expect(findChannelNamed("General", channels)?.id).toBe("C2");
  expect(findChannelNamed("other", channels)).toBeUndefined();
  expect(() => findChannelNamed("GENERAL", channels)).toThrow(
    "several channels: #general (C1), #General (C2)",
  );
});

test("a channel that is not there is refused with those that are near, else with some that are there", () => {
  expect(refuseChannel("projekt-alfa", ["project-alpha", "random"]).message).toContain(
    "near: #project-alpha",
  );
  expect(refuseChannel("zzz", ["random"]).message).toBe("there is no channel '#zzz'; there are #random");
  expect(refuseChannel("zzz", []).message).toBe("there is no channel '#zzz'");
});
