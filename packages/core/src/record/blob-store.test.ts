import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBlobStore, hashOf } from "./blob-store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-blobs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const placeOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));

test("a content comes back byte for byte, and is kept once for its owner only", async () => {
  const blobs = createBlobStore(folder);
  const content = Buffer.from([0, 255, 13, 10, 128]);
  const hash = await blobs.put(content, true);
  expect(await blobs.put(content, false)).toBe(hash);
  expect(await blobs.get(hash)).toEqual(content);
  expect(readdirSync(join(folder, hash.slice(0, 2)))).toHaveLength(1);
  expect(statSync(placeOf(hash)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, hash.slice(0, 2))).mode & 0o777).toBe(0o700);
});

test("a damaged or missing content is refused, and a cut one is written anew", async () => {
  const blobs = createBlobStore(folder);
  const content = Buffer.from("the whole content");
  const hash = await blobs.put(content, false);
  writeFileSync(placeOf(hash), "another content!!");
  await expect(blobs.get(hash)).rejects.toThrow("damaged");
  await expect(blobs.get(hashOf(Buffer.from("never kept")))).rejects.toThrow("missing");
  await expect(blobs.get("../../etc/passwd")).rejects.toThrow("no hash");
  writeFileSync(placeOf(hash), "the wh");
  await blobs.put(content, false);
  expect(await blobs.get(hash)).toEqual(content);
});
