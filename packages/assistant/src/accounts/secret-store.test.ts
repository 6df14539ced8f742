import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseSecretStore, createFileStore, findSecretStore } from "./secret-store.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "retinue-secrets-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const readMode = (path: string) => statSync(path).mode & 0o777;
const SECRETS = { refreshToken: "1//very-secret" };

test("secrets come back from a file that only the user can read, in a folder that only the user can enter", async () => {
  const store = createFileStore({ dataDir });
  expect(await store.read("google")).toBeNull();
  await store.write("google", SECRETS);
  await store.write("google", { ...SECRETS, accessToken: "ya29.newer" });
  expect(await store.read("google")).toEqual({ ...SECRETS, accessToken: "ya29.newer" });
  expect(readMode(join(dataDir, "secrets"))).toBe(0o700);
  expect(readMode(join(dataDir, "secrets", "google.json"))).toBe(0o600);
  expect(readdirSync(join(dataDir, "secrets"))).toEqual(["google.json"]);
  await store.remove("google");
  await store.remove("google");
  expect(await store.read("google")).toBeNull();
});

test("a folder that others could enter is closed to them", async () => {
  mkdirSync(join(dataDir, "secrets"), { mode: 0o755 });
  await createFileStore({ dataDir }).write("a", SECRETS);
  expect(readMode(join(dataDir, "secrets"))).toBe(0o700);
});

test("a file that others can read, or that is a link, is refused without repeating what it holds", async () => {
  const store = createFileStore({ dataDir });
  await store.write("a", SECRETS);
  const file = join(dataDir, "secrets", "a.json");
  chmodSync(file, 0o640);
  await expect(store.read("a")).rejects.toMatchObject({ code: "config", message: /can be read by others/ });
  symlinkSync(file, join(dataDir, "secrets", "b.json"));
  await expect(store.read("b")).rejects.toMatchObject({ code: "config", message: /is a link/ });
  writeFileSync(join(dataDir, "secrets", "c.json"), '{"token": "xoxb-half', { mode: 0o600 });
  const damaged = await store.read("c").catch((thrown: Error) => thrown);
  expect(damaged).toMatchObject({ code: "auth", message: "the secrets of account 'c' are damaged" });
  expect(JSON.stringify(damaged)).not.toContain("xoxb");
});

test("a folder that is a link is refused, for reading and for writing", async () => {
  mkdirSync(join(dataDir, "elsewhere"));
  symlinkSync(join(dataDir, "elsewhere"), join(dataDir, "secrets"));
  const store = createFileStore({ dataDir });
  await expect(store.write("a", SECRETS)).rejects.toMatchObject({ code: "config" });
  await expect(store.read("a")).rejects.toMatchObject({ code: "config" });
  expect(readdirSync(join(dataDir, "elsewhere"))).toEqual([]);
});

test("with the keyring switched off, files are used, and an account whose secrets are in the keyring says so", async () => {
  const places = { dataDir, configDir: dataDir, env: { RETINUE_KEYRING: "off" } };
  expect((await chooseSecretStore(places)).where).toBe("file");
  await expect(findSecretStore({ id: "google", tokens: "keyring" }, places)).rejects.toMatchObject({
    code: "auth",
    message: /in the system's keyring/,
  });
});
