import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSecretKeeper } from "./open-account.ts";
import { createFileStore } from "./secret-store.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "retinue-keeper-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const READ = { refreshToken: "1//first", accessToken: "ya29.old" };

test("renewed tokens replace the stored ones every time", async () => {
  const store = createFileStore({ dataDir });
  await store.write("google", READ);
  const keep = createSecretKeeper(store, { id: "google" }, READ);
  await keep({ accessToken: "ya29.new", refreshToken: "1//second" });
  await keep({ accessToken: "ya29.newer", refreshToken: "1//second" });
  expect(await store.read("google")).toEqual({ refreshToken: "1//second", accessToken: "ya29.newer" });
});

test("an account that was removed meanwhile stays removed", async () => {
  const store = createFileStore({ dataDir });
  await store.write("google", READ);
  const keep = createSecretKeeper(store, { id: "google" }, READ);
  await store.remove("google");
  await keep({ accessToken: "ya29.new", refreshToken: "1//first" });
  expect(await store.read("google")).toBeNull();
});

test("a newer sign-in is not overwritten by what an older one renews", async () => {
  const store = createFileStore({ dataDir });
  await store.write("google", READ);
  const keep = createSecretKeeper(store, { id: "google" }, READ);
  const newer = { refreshToken: "1//wider", accessToken: "ya29.wider" };
  await store.write("google", newer);
  await keep({ accessToken: "ya29.new", refreshToken: "1//first" });
  expect(await store.read("google")).toEqual(newer);
});
