import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Account,
  chooseAccount,
  findAccount,
  loadAccounts,
  locateAccountFile,
  pickAccount,
  saveAccounts,
} from "./accounts.ts";

let root = "";
let configDir = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-accounts-"));
  configDir = join(root, "config", "retinue");
});
afterEach(() => rmSync(root, { recursive: true }));

const COMMON = { address: "ada@example.org", addedAt: "2026-11-16T06:00:00.000Z", tokens: "file" } as const;
const GOOGLE: Account = {
  ...COMMON,
  ...{ id: "google", kind: "google", services: ["mail", "calendar"], clientId: "c", scopes: ["openid"] },
};
const server = { host: "mail.example.org", port: 993, secure: true };
const IMAP: Account = {
  ...COMMON,
  ...{ id: "imap", kind: "imap", services: ["mail"], user: "ada", imap: server, smtp: server },
};

test("accounts come back from a file that only the user can read", async () => {
  expect(await loadAccounts(configDir)).toEqual({ accounts: [], defaults: {} });
  const kept = { accounts: [GOOGLE, IMAP], defaults: { mail: "imap", calendar: "google" } };
  await saveAccounts(configDir, kept);
  await saveAccounts(configDir, kept);
  expect(await loadAccounts(configDir)).toEqual(kept);
  expect(statSync(locateAccountFile(configDir)).mode & 0o777).toBe(0o600);
  expect(readdirSync(configDir)).toEqual(["accounts.json"]);
});

test("a file that others can change is refused: it says where passwords go", async () => {
  await saveAccounts(configDir, { accounts: [IMAP], defaults: {} });
  chmodSync(locateAccountFile(configDir), 0o622);
  await expect(loadAccounts(configDir)).rejects.toMatchObject({
    code: "config",
    message: /changed by others/,
  });
});

test.each([
  ["no JSON", "{", "it is no JSON"],
  ["a path as id", JSON.stringify({ accounts: [{ ...IMAP, id: "../x" }], defaults: {} }), "#/accounts/0"],
  [
    "the local store's name as id",
    JSON.stringify({ accounts: [{ ...IMAP, id: "local" }], defaults: {} }),
    "#/accounts",
  ],
  [
    "a service that the kind does not have",
    JSON.stringify({ accounts: [{ ...IMAP, services: ["slack"] }], defaults: {} }),
    "#/",
  ],
  ["a kind that there is not", JSON.stringify({ accounts: [{ ...IMAP, kind: "fax" }], defaults: {} }), "#/"],
  [
    "a port that there is not",
    JSON.stringify({ accounts: [{ ...IMAP, smtp: { ...server, port: 0 } }], defaults: {} }),
    "#/",
  ],
  [
    "the same id twice",
    JSON.stringify({ accounts: [IMAP, IMAP], defaults: {} }),
    "two accounts are called 'imap'",
  ],
])("a file with %s is refused", async (_, text, why) => {
  await saveAccounts(configDir, { accounts: [], defaults: {} });
  writeFileSync(locateAccountFile(configDir), text);
  await expect(loadAccounts(configDir)).rejects.toMatchObject({
    code: "config",
    message: expect.stringContaining(why),
  });
});

test("the settings choose before the defaults do, and without either the local store serves", async () => {
  const kept = { accounts: [GOOGLE, IMAP], defaults: { mail: "google", calendar: "google" } };
  expect(chooseAccount("mail", {}, kept)).toBe(GOOGLE);
  expect(chooseAccount("mail", { accounts: { mail: "imap" } }, kept)).toBe(IMAP);
  expect(chooseAccount("mail", { accounts: { mail: "local" } }, kept)).toBeNull();
  expect(chooseAccount("slack", {}, kept)).toBeNull();
  await saveAccounts(configDir, kept);
  expect(await pickAccount("slack", {}, { configDir })).toEqual({ account: null, hasAny: true });
  const local = { accounts: { mail: "local", calendar: "local" } };
  expect(await pickAccount("mail", local, { configDir })).toEqual({ account: null, hasAny: false });
});

test("a named account that does not exist is an error, never replaced by the local store", () => {
  const kept = { accounts: [GOOGLE, IMAP], defaults: {} };
  expect(() => chooseAccount("mail", { accounts: { mail: "work" } }, kept)).toThrow(
    "there is no account 'work'; there are: google, imap",
  );
  expect(() => chooseAccount("calendar", { accounts: { calendar: "imap" } }, kept)).toThrow(
    "serves only mail",
  );
  expect(() => findAccount({ accounts: [], defaults: {} }, "x")).toThrow("there are: none");
});
