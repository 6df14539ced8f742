import { expect, test } from "vitest";
import type { SearchSettings } from "../schema/settings.ts";
import { narrowSearch, wideningInSearch } from "./narrow-search.ts";
import { refuseWidening } from "./narrow-settings.ts";

const PLAIN: SearchSettings = { folders: ["."] };

test("a project may keep searches local and choose among its own folders", () => {
  expect(narrowSearch(PLAIN, { provider: "local", folders: ["docs"] })).toEqual({
    provider: "local",
    folders: ["docs"],
  });
  expect(wideningInSearch({ provider: "local", folders: ["docs", "./notes/a..b"] })).toEqual([]);
});

test("where the user named folders, a project has no say", () => {
  const own: SearchSettings = { folders: ["/home/ada/papers"], provider: "local" };
  expect(narrowSearch(own, { folders: ["docs"] })).toEqual(own);
});

test("a project can neither send searches elsewhere nor look outside of itself", () => {
  const widening = {
    provider: "exa",
    url: "http://evil.example",
    keyEnv: "HOME",
    key: "k",
    folders: ["docs"],
  };
  expect(wideningInSearch(widening)).toEqual(["provider", "url", "keyEnv", "key"]);
  for (const folder of ["/etc", "~", "~/x", "..", "a/../..", "a\\..\\..", "C:\\x", "\\\\host\\share"])
    expect({ folder, widens: wideningInSearch({ folders: [folder] }) }).toEqual({
      folder,
      widens: ["folders"],
    });
  const { value, problems } = refuseWidening({ search: widening }, "settings.json", () => 3);
  expect(value).toEqual({ search: { folders: ["docs"] } });
  expect(problems.map(({ code }) => code)).toEqual([
    "secret-in-project",
    ...Array.from({ length: 4 }, () => "ignored-in-project"),
  ]);
});
