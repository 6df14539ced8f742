import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantSettings, Settings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Account, saveAccounts } from "./accounts/accounts.ts";
import { createFileStore } from "./accounts/secret-store.ts";
import { type Assistant, createAssistant, findAssistant } from "./assistant.ts";

let root = "";
let places: HostPlaces;
let hidden: string[] = [];
const opened: Assistant[] = [];
const signal = new AbortController().signal;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-assistant-"));
  hidden = [];
  places = {
    env: { RETINUE_KEYRING: "off", TZ: "Asia/Tokyo" },
    homeDir: root,
    dataDir: join(root, "data"),
    configDir: join(root, "config"),
    hideSecret: (value) => hidden.push(value),
  };
});
afterEach(async () => {
  for (const assistant of opened.splice(0)) await assistant.close();
  rmSync(root, { recursive: true });
});

function open(assistant: AssistantSettings = {}): Assistant {
  const made = createAssistant({ assistant }, places, { now: () => Date.UTC(2026, 10, 16) });
  opened.push(made);
  return made;
}

const MAIL =
  "From: Dana <dana@acme.example>\r\nTo: alex@retinue.example\r\nSubject: Budget\r\nMessage-ID: <1@acme.example>\r\nDate: Mon, 02 Nov 2026 10:00:00 +0000\r\n\r\nHello\r\n";

function projectFolder(): Required<Pick<AssistantSettings, "folder" | "folderWithin">> {
  const folder = join(root, "project", "mail");
  mkdirSync(folder, { recursive: true });
  const owner = { name: "Alex", address: "alex@retinue.example", zone: "Europe/Berlin" };
  writeFileSync(join(folder, "owner.json"), JSON.stringify(owner));
  writeFileSync(join(folder, "one.eml"), MAIL);
  return { folder, folderWithin: join(root, "project") };
}

const CALDAV: Account = {
  ...{ id: "dav", kind: "caldav", address: "ada@example.org", services: ["calendar"], tokens: "file" },
  ...{ addedAt: "2026-11-16T06:00:00.000Z", user: "ada", url: "http://127.0.0.1:1/" },
};

test("tools of one runtime share one assistant, and making it touches no disk", () => {
  const settings = { assistant: projectFolder() } as Settings;
  const assistant = findAssistant(settings, places);
  expect(findAssistant(settings, places)).toBe(assistant);
  expect(findAssistant(settings, { ...places })).not.toBe(assistant);
  expect(readdirSync(root)).toEqual(["project"]);
});

test("without an account the local store serves everything, in a file of the user's own", async () => {
  const assistant = open();
  expect((await assistant.open("mail")).kind).toBe("embedded");
  expect((await assistant.open("calendar")).kind).toBe("embedded");
  expect((await assistant.open("contacts")).kind).toBe("embedded");
  expect((await assistant.open("slack")).kind).toBe("embedded");
  expect(await assistant.open("mail")).toBe(await assistant.open("mail"));
  await (await assistant.open("mail")).search({ limit: 1 }, signal);
  const file = join(places.dataDir, "assistant", "mailbox.db");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a project's folder fills a store of its own once", async () => {
  const folder = projectFolder();
  const first = open(folder);
  expect(first.zone).toBe("Europe/Berlin");
  expect(await (await first.open("mail")).self(signal)).toMatchObject({ address: "alex@retinue.example" });
  expect((await (await first.open("mail")).search({ limit: 5 }, signal)).total).toBe(1);
  await first.close();
  writeFileSync(join(folder.folder, "two.eml"), MAIL.replace("<1@", "<2@"));
  expect((await (await open(folder).open("mail")).search({ limit: 5 }, signal)).total).toBe(1);
  expect(readdirSync(join(places.dataDir, "assistant"))).not.toContain("mailbox.db");
});

test("a folder that leads out of its project is not read", async () => {
  const { folderWithin } = projectFolder();
  const outside = join(root, "private");
  mkdirSync(outside);
  symlinkSync(outside, join(folderWithin, "link"));
  const assistant = open({ folder: join(folderWithin, "link"), folderWithin });
  await expect(assistant.open("mail")).rejects.toMatchObject({
    name: "ToolFault",
    message: expect.stringContaining("leads out of the project"),
  });
  await expect(open({ folder: join(root, "none") }).open("mail")).rejects.toThrow("is not there");
});

test("a link in place of the owner's file is not followed, not even to an endless device", async () => {
  const { folder, folderWithin } = projectFolder();
  rmSync(join(folder, "owner.json"));
  symlinkSync("/dev/zero", join(folder, "owner.json"));
  expect(open({ folder, folderWithin }).zone).toBe("Asia/Tokyo");
});

test("with an account, a project's folder serves nothing: its address book never decides where real mail goes", async () => {
  await saveAccounts(places.configDir, { accounts: [CALDAV], defaults: { calendar: "dav" } });
  const assistant = open(projectFolder());
  expect(assistant.zone).toBe("Asia/Tokyo");
  expect((await (await assistant.open("mail")).search({ limit: 5 }, signal)).total).toBe(0);
  expect(readdirSync(join(places.dataDir, "assistant"))).toContain("mailbox.db");
});

test("the chosen account serves, its secrets are hidden, and a missing one is an error", async () => {
  await saveAccounts(places.configDir, { accounts: [CALDAV], defaults: { calendar: "dav" } });
  await expect(open().open("calendar")).rejects.toMatchObject({
    type: "auth",
    message: /accounts add caldav --id dav/,
  });
  await createFileStore(places).write("dav", { password: "correct horse" });
  expect((await open().open("calendar")).kind).toBe("caldav");
  expect(hidden).toEqual(["correct horse"]);
  await expect(open({ accounts: { mail: "gone" } }).open("mail")).rejects.toMatchObject({
    type: "tool_error",
    message: expect.stringContaining("there is no account 'gone'; there are: dav"),
  });
});

test("the provider of a domain does not change after an approval", async () => {
  const assistant = open();
  await assistant.open("calendar");
  await saveAccounts(places.configDir, { accounts: [CALDAV], defaults: { calendar: "dav" } });
  expect((await assistant.open("calendar")).kind).toBe("embedded");
});

test("domains are given in lower case, and a closed assistant opens nothing", async () => {
  const assistant = open({ internalDomains: ["Retinue.Example", "@acme.example"], timezone: "UTC" });
  expect([assistant.internalDomains, assistant.zone]).toEqual([["retinue.example", "acme.example"], "UTC"]);
  await assistant.close();
  await assistant.close();
  await expect(assistant.open("mail")).rejects.toMatchObject({ name: "ToolFault" });
});
