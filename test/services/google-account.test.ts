import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, saveAccounts } from "@retinue/assistant/accounts/accounts";
import { checkAccount } from "@retinue/assistant/accounts/check-account";
import { createFileStore } from "@retinue/assistant/accounts/secret-store";
import { createAssistant } from "@retinue/assistant/assistant";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmulatedGoogle, OWNER, startGoogle } from "./google-emulators.ts";

const signal = new AbortController().signal;
let google: EmulatedGoogle;
let root = "";
beforeAll(async () => {
  google = await startGoogle();
});
afterAll(() => google.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-google-account-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const account = (): Account => ({
  ...{
    id: "google",
    kind: "google",
    address: OWNER,
    services: ["mail", "calendar", "contacts"],
    tokens: "file",
  },
  ...{ addedAt: "2026-11-16T06:00:00.000Z", clientId: google.credentials.clientId, scopes: [] },
  ...{ rootUrl: google.proxy.url, tokenUrl: `${google.proxy.url}/oauth2/token` },
});
const secrets = () => ({
  clientSecret: google.credentials.clientSecret,
  refreshToken: google.credentials.refreshToken,
  accessToken: "ya29.long-gone-token",
});

test("an account with an expired token passes the check if the token can be renewed", async () => {
  const kept: object[] = [];
  const onSecrets = async (changed: object) => void kept.push(changed);
  const how = { zone: "UTC", now: Date.now, signal, onSecrets };
  expect(await checkAccount(account(), secrets(), how)).toEqual([
    { service: "mail", ok: true },
    { service: "calendar", ok: true },
    { service: "contacts", ok: true },
  ]);
  expect(kept[0]).toMatchObject({ accessToken: expect.any(String), refreshToken: secrets().refreshToken });
  const ended = await checkAccount(account(), { ...secrets(), refreshToken: "1//withdrawn-token" }, how);
  expect(ended[0]).toMatchObject({
    service: "mail",
    ok: false,
    auth: true,
    remedy: /accounts add google --id google/,
  });
  expect(JSON.stringify(ended)).not.toContain("1//withdrawn-token");
});

test("the assistant uses the account, keeps its new token for the next time and hides all of its secrets", async () => {
  const hidden: string[] = [];
  const places = {
    ...{
      env: { RETINUE_KEYRING: "off" },
      homeDir: root,
      dataDir: join(root, "data"),
      configDir: join(root, "config"),
    },
    hideSecret: (value: string) => void hidden.push(value),
  };
  await saveAccounts(places.configDir, { accounts: [account()], defaults: { mail: "google" } });
  await createFileStore(places).write("google", secrets());
  const assistant = createAssistant({}, places);
  const mail = await assistant.open("mail");
  expect(mail.kind).toBe("google");
  expect((await assistant.open("contacts")).kind).toBe("embedded");
  await mail.refresh?.(signal);
  await mail.search({ limit: 1 }, signal);
  await assistant.close();
  const stored: Record<string, string> = JSON.parse(
    readFileSync(join(places.dataDir, "secrets", "google.json"), "utf8"),
  );
  expect(stored).toMatchObject({ ...secrets(), accessToken: expect.not.stringContaining("long-gone") });
  for (const name of ["clientSecret", "refreshToken", "accessToken"]) expect(hidden).toContain(stored[name]);
  expect(hidden).not.toContain(stored.expiryDate);
});
