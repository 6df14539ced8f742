import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { SearchSettings } from "../schema/settings.ts";
import { loadSettings } from "./load-settings.ts";
import { narrowSettings, refuseWidening } from "./narrow-settings.ts";

/** The keys of a section that would give a project more than the user does. */
function findWider(section: string, value: object): string[] {
  const { problems } = refuseWidening({ [section]: value }, "settings.json", () => 1);
  return problems.flatMap(({ code, message }) =>
    code === "ignored-in-project" ? [(/^'([^']+)'/.exec(message)?.[1] ?? "").replace(`${section}.`, "")] : [],
  );
}

const root = mkdtempSync(join(tmpdir(), "retinue-narrow-assistant-"));
const projectDir = join(root, "project");
const configDir = join(root, "config");
afterAll(() => rmSync(root, { recursive: true }));

function load(user: object, project: object) {
  for (const [file, value] of [
    [join(configDir, "settings.json"), user],
    [join(projectDir, ".retinue", "settings.json"), project],
  ] as const) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(value));
  }
  return loadSettings({ projectDir, configDir });
}

test("a project's folder is taken as its own, and only where the user named none", async () => {
  const project = { assistant: { folder: "examples/mail" } };
  const { settings } = await load({ assistant: { timezone: "Europe/Berlin" } }, project);
  expect(settings.assistant).toEqual({
    timezone: "Europe/Berlin",
    folder: join(projectDir, "examples/mail"),
    folderWithin: projectDir,
  });
  expect((await load({ assistant: { folder: "/home/ada/mail" } }, project)).settings.assistant).toEqual({
    folder: "/home/ada/mail",
  });
  expect((await load({ assistant: { folder: "mine" } }, {})).settings.assistant).toEqual({
    folder: join(configDir, "mine"),
  });
});

test("a project can neither choose accounts, nor trust domains, nor look outside of itself", async () => {
  const widening = {
    folder: "../mail",
    folderWithin: "/",
    internalDomains: ["evil.example"],
    timezone: "UTC",
    accounts: { mail: "local" },
  };
  expect(findWider("assistant", widening)).toEqual([
    "folder",
    "folderWithin",
    "internalDomains",
    "timezone",
    "accounts",
  ]);
  for (const folder of ["/etc", "~", "~/x", "..", "a/../..", "a\\..\\..", "C:\\x", "\\\\host\\share"])
    expect({ folder, widens: findWider("assistant", { folder }) }).toEqual({ folder, widens: ["folder"] });
  const { settings, problems } = await load({}, { assistant: widening });
  expect(settings.assistant ?? {}).toEqual({});
  expect(problems.filter(({ code }) => code === "ignored-in-project")).toHaveLength(5);
  const further = { assistant: { folder: "/etc", accounts: { mail: "x" } } };
  expect(narrowSettings({}, further).assistant ?? {}).toEqual({});
});

test.each([
  ["a domain that is none", { internalDomains: ["*"] }],
  ["a zone that is none", { timezone: "Mars/Olympus" }],
  ["an account that is no text", { accounts: { mail: 3 } }],
])("%s is an error", async (_, assistant) => {
  const { problems } = await load({ assistant }, {});
  expect(problems).toMatchObject([{ severity: "error", code: "bad-setting" }]);
});

const PLAIN: SearchSettings = { folders: ["."] };

test("a project may keep searches local and choose among its own folders", () => {
  expect(
    narrowSettings({ search: PLAIN }, { search: { provider: "local", folders: ["docs"] } }).search,
  ).toEqual({
    provider: "local",
    folders: ["docs"],
  });
  expect(findWider("search", { provider: "local", folders: ["docs", "./notes/a..b"] })).toEqual([]);
});

test("where the user named folders, a project has no say", () => {
  const own: SearchSettings = { folders: ["/home/ada/papers"], provider: "local" };
  expect(narrowSettings({ search: own }, { search: { folders: ["docs"] } }).search).toEqual(own);
});

test("a project can neither send searches elsewhere nor look outside of itself", () => {
  const widening = {
    provider: "exa",
    url: "http://evil.example",
    keyEnv: "HOME",
    key: "k",
    folders: ["docs"],
  };
  expect(findWider("search", widening)).toEqual(["provider", "url", "keyEnv", "key"]);
  for (const folder of ["/etc", "~", "~/x", "..", "a/../..", "a\\..\\..", "C:\\x", "\\\\host\\share"])
    expect({ folder, widens: findWider("search", { folders: [folder] }) }).toEqual({
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

test("a project may make pages smaller, and neither larger nor open private hosts", () => {
  const user = { allowHosts: ["wiki.corp"], maxPageMb: 5 };
  expect(narrowSettings({ web: user }, { web: { maxPageMb: 2 } }).web).toEqual({ ...user, maxPageMb: 2 });
  const wider = { maxPageMb: 50, allowHosts: ["10.0.0.1"], userAgent: "other" };
  expect(narrowSettings({ web: user }, { web: wider }).web).toEqual(user);
  expect(findWider("web", { maxPageMb: 1, allowHosts: [], userAgent: "x" })).toEqual([
    "allowHosts",
    "userAgent",
  ]);
});
