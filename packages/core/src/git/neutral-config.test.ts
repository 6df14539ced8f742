import { expect, test } from "vitest";
import { configEnv, filtersIn, neutralConfig } from "./neutral-config.ts";

test("whatever a repository names as a program has something harmless in its place", () => {
  const config = neutralConfig([
    "filter.lfs.clean",
    "filter.with.dots.smudge",
    "diff.word.textconv",
    "merge.ours.driver",
    "remote.origin.uploadpack",
    "credential.https://example.com.helper",
    "trailer.sign.cmd",
  ]);
  const placed = (key: string) => config.get(key);
  expect(["clean", "smudge", "process", "required"].map((key) => placed(`filter.lfs.${key}`))).toEqual([
    "",
    "",
    "",
    "false",
  ]);
  expect(placed("filter.with.dots.clean")).toBe("");
  expect([placed("diff.word.command"), placed("diff.word.textconv")]).toEqual(["false", "cat"]);
  // An empty driver would take one side and drop the other without a word.
  expect(placed("merge.ours.driver")).toBe("false");
  expect(placed("remote.origin.receivepack")).toBe("false");
  expect(placed("credential.https://example.com.helper")).toBe("");
  expect([placed("trailer.sign.command"), placed("core.hooksPath"), placed("protocol.allow")]).toEqual([
    "false",
    "/dev/null",
    "never",
  ]);
});

test("sections without a name, and those that run nothing, add nothing", () => {
  expect(neutralConfig(["core.bare", "branch.main.remote", "nothing"]).size).toBe(neutralConfig([]).size);
});

test("the filters of a repository are told once each", () => {
  expect(filtersIn(["filter.lfs.clean", "filter.lfs.smudge", "diff.a.command", "filter.b.c.clean"])).toEqual([
    "lfs",
    "b.c",
  ]);
});

test("more named sections than an honest repository has are refused", () => {
  const names = Array.from({ length: 501 }, (_, index) => `filter.f${index}.clean`);
  expect(() => neutralConfig(names)).toThrow("more than 500 named sections");
});

test("settings are handed over by number, so that a name may hold any character", () => {
  expect(
    configEnv(
      new Map([
        ["filter.a=b.clean", ""],
        ["core.pager", "cat"],
      ]),
    ),
  ).toEqual({
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "filter.a=b.clean",
    GIT_CONFIG_VALUE_0: "",
    GIT_CONFIG_KEY_1: "core.pager",
    GIT_CONFIG_VALUE_1: "cat",
  });
});
