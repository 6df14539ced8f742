import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadSettings } from "./load-settings.ts";
import { narrowAssistant, wideningInAssistant } from "./narrow-assistant.ts";

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
  expect(wideningInAssistant(widening)).toEqual([
    "folder",
    "folderWithin",
    "internalDomains",
    "timezone",
    "accounts",
  ]);
  for (const folder of ["/etc", "~", "~/x", "..", "a/../..", "a\\..\\..", "C:\\x", "\\\\host\\share"])
    expect({ folder, widens: wideningInAssistant({ folder }) }).toEqual({ folder, widens: ["folder"] });
  const { settings, problems } = await load({}, { assistant: widening });
  expect(settings.assistant ?? {}).toEqual({});
  expect(problems.filter(({ code }) => code === "ignored-in-project")).toHaveLength(5);
  expect(narrowAssistant({}, { folder: "/etc", accounts: { mail: "x" } })).toEqual({});
});

test.each([
  ["a domain that is none", { internalDomains: ["*"] }],
  ["a zone that is none", { timezone: "Mars/Olympus" }],
  ["an account that is no text", { accounts: { mail: 3 } }],
])("%s is an error", async (_, assistant) => {
  const { problems } = await load({ assistant }, {});
  expect(problems).toMatchObject([{ severity: "error", code: "bad-setting" }]);
});
