import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startWorkbenchServer, type WorkbenchServer } from "../../../../test/fixtures/workbench-server.ts";
import { createFolderWorkbench } from "./folder-workbench.ts";
import { createHttpWorkbench } from "./http-workbench.ts";
import { hashBytes } from "./part-file.ts";
import { downloadFile, type TransferOptions, uploadFile } from "./transfer-file.ts";
import type { Workbench } from "./workbench.ts";

/** 5 MB; the full count is 50. */
const SIZE = (process.env.RETINUE_DEEP ? 50 : 5) * 1_000_000;
const FILE = { session: "s1", path: "work/data.bin" };
const KEY = "a key";

let root = "";
let server: WorkbenchServer;
let workbench: Workbench;
const { signal } = new AbortController();

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "retinue-workbench-"));
  mkdirSync(join(root, "here"));
  server = await startWorkbenchServer(join(root, "there"), KEY);
  workbench = createHttpWorkbench({ url: server.url, key: () => KEY });
});
afterEach(async () => {
  await workbench.close();
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const here = (name: string) => join(root, "here", name);
const remote = () => readFileSync(join(root, "there", FILE.session, FILE.path));
const createOptions = (more: Partial<TransferOptions> = {}): TransferOptions => ({
  workbench,
  signal,
  backoffMs: 0,
  ...more,
});

function place(bytes: Uint8Array): void {
  mkdirSync(join(root, "there", FILE.session, "work"), { recursive: true });
  writeFileSync(join(root, "there", FILE.session, FILE.path), bytes);
}

async function upload(bytes: Uint8Array, more: Partial<TransferOptions> = {}) {
  writeFileSync(here("source"), bytes);
  const handle = await open(here("source"));
  return uploadFile(handle, FILE, createOptions(more)).finally(() => handle.close());
}

function download(more: Partial<TransferOptions> = {}) {
  const folder = join(root, "here");
  const destination = { root: folder, path: here("got"), partsRoot: folder, beforeChange: async () => {} };
  return downloadFile(FILE, destination, createOptions(more));
}

test("an upload survives a cut connection, sends only what was missing, and verifies by checksum", async () => {
  const bytes = randomBytes(SIZE);
  server.cut({ up: Math.floor(SIZE * 0.7) });
  const done = await upload(bytes);
  expect(done).toMatchObject({ size: SIZE, sha256: hashBytes(bytes), resumedFrom: 0, interruptions: 1 });
  expect(hashBytes(remote())).toBe(done.sha256);
  expect(server.content.up).toBe(SIZE);
  expect(server.largestRequest).toBeLessThan(800_000);
  expect(readdirSync(join(root, "there", ".uploads"))).toEqual([]);
});

test("a download survives a cut connection, fetches only what was missing, and verifies by checksum", async () => {
  const bytes = randomBytes(SIZE);
  place(bytes);
  server.cut({ down: Math.floor(SIZE * 0.7) });
  const done = await download();
  expect(done).toMatchObject({ size: SIZE, sha256: hashBytes(bytes), interruptions: 1, kind: "created" });
  expect(hashBytes(readFileSync(here("got")))).toBe(done.sha256);
  expect(server.content.down).toBeLessThan(SIZE + 600_000);
  expect(readdirSync(join(root, "here", ".transfers"))).toEqual([]);
});

test("what was given up is gone on with by the next call, also when the server was started again", async () => {
  const bytes = randomBytes(3_000_000);
  server.cut({ up: 2_000_000 }, 1);
  await expect(upload(bytes, { patience: 0 })).rejects.toMatchObject({ failure: "unreachable" });
  server.forget();
  const up = await upload(bytes);
  expect(up.resumedFrom).toBeGreaterThan(1_000_000);
  expect(server.content.up).toBe(bytes.length);
  server.cut({ down: 2_000_000 }, 1);
  await expect(download({ patience: 0 })).rejects.toMatchObject({ failure: "unreachable" });
  const down = await download();
  expect(down.resumedFrom).toBeGreaterThan(1_000_000);
  expect(readFileSync(here("got")).equals(bytes)).toBe(true);
});

test("a wire that is cut again and again is given up after so many times without a step forward", async () => {
  const bytes = randomBytes(2_000_000);
  server.cut({ up: 1_000_000 }, 100);
  expect(await upload(bytes)).toMatchObject({ size: bytes.length });
  server.cut({ up: 50 }, 1_000);
  await expect(upload(randomBytes(100_000), { patience: 3 })).rejects.toMatchObject({
    failure: "unreachable",
  });
});

test("wherever the wire is cut, what arrives is what was sent", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 40_000 }),
      fc.integer({ min: 1, max: 60_000 }),
      fc.integer({ min: 1, max: 9_000 }),
      async (bytes, at, chunkBytes) => {
        server.cut({ up: at, down: at });
        await upload(bytes, { chunkBytes });
        expect(remote().equals(bytes)).toBe(true);
        server.cut({ up: at, down: at });
        await download({ chunkBytes });
        expect(readFileSync(here("got")).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: process.env.RETINUE_DEEP ? 500 : 25 },
  );
});

test("a finished upload whose answer was lost is not sent again", async () => {
  const bytes = randomBytes(100_000);
  await upload(bytes);
  const sent = server.content.up;
  expect(await upload(bytes)).toMatchObject({ resumedFrom: bytes.length });
  expect(server.content.up).toBe(sent);
});

test("a damaged chunk is sent again, and a server that asks to retry is asked again", async () => {
  place(randomBytes(50_000));
  server.damageNext();
  expect(await download()).toMatchObject({ interruptions: 1 });
  server.answerNext(503);
  server.answerNext(429);
  expect(await upload(randomBytes(10))).toMatchObject({ interruptions: 2 });
});

test("wrong bytes among the collected parts are found by the checksum and fetched again", async () => {
  const bytes = randomBytes(1_500_000);
  place(bytes);
  server.cut({ down: 1_000_000 });
  await expect(download({ patience: 0 })).rejects.toThrow();
  const [part = ""] = readdirSync(join(root, "here", ".transfers"));
  const path = join(root, "here", ".transfers", part);
  writeFileSync(path, Buffer.alloc(readFileSync(path).length));
  await download();
  expect(readFileSync(here("got")).equals(bytes)).toBe(true);
});

test("a file that is replaced there during a download is taken as it is then", async () => {
  place(randomBytes(900_000));
  const newer = randomBytes(700_000);
  let replaced = false;
  const onProgress = () => {
    if (!replaced) place(newer);
    replaced = true;
  };
  await download({ chunkBytes: 100_000, onProgress });
  expect(readFileSync(here("got")).equals(newer)).toBe(true);
  expect(readdirSync(join(root, "here", ".transfers"))).toEqual([]);
});

test("a file that changes while it is sent is refused, and nothing shows under its name", async () => {
  const onProgress = () => writeFileSync(here("source"), randomBytes(900_000));
  await expect(upload(randomBytes(900_000), { chunkBytes: 100_000, onProgress })).rejects.toMatchObject({
    failure: "changed",
  });
  expect(() => remote()).toThrow();
});

test("a wrong key, a missing file and a redirect are told at once", async () => {
  const stranger = createHttpWorkbench({ url: server.url, key: () => "another" });
  await expect(upload(randomBytes(10), { workbench: stranger })).rejects.toThrow(/401.*keyEnv/);
  await stranger.close();
  await expect(download()).rejects.toMatchObject({ failure: "not_found" });
  server.answerNext(302, { location: "http://127.0.0.1:1/" });
  await expect(download()).rejects.toThrow(/302; redirects are not followed/);
});

test.each([
  ["{", "not a JSON object"],
  ['{"size": -1, "sha256": "x"}', "size"],
  ['{"size": 3, "sha256": "x"}', "no checksum"],
])("an answer such as %s is refused", async (body, why) => {
  const egress = {
    request: async () => ({
      status: 200,
      headers: {},
      body: (await import("node:stream")).Readable.from([Buffer.from(body)]),
    }),
    isExempt: () => true,
    close: async () => {},
  };
  const odd = createHttpWorkbench({ url: "http://workbench.example", egress });
  await expect(odd.stat(FILE, signal)).rejects.toThrow(why);
});

test("an address that is private is reached only if it is the one that was set up", async () => {
  const { createEgress } = await import("../egress/egress-guard.ts");
  const egress = createEgress();
  const blocked = createHttpWorkbench({ url: server.url, egress });
  await expect(blocked.stat(FILE, signal)).rejects.toMatchObject({ failure: "refused" });
  expect(server.requests).toEqual([]);
  await blocked.close();
});

test("a transfer ends at once when it is stopped", async () => {
  const stop = new AbortController();
  const onProgress = () => stop.abort(new Error("stopped"));
  place(randomBytes(900_000));
  await expect(download({ signal: stop.signal, chunkBytes: 1_000, onProgress })).rejects.toThrow("stopped");
  expect(server.requests.filter((each) => each === "GET chunk")).toHaveLength(1);
});

test("a folder as workbench follows no link and leaves no session's folder", async () => {
  const folder = join(root, "bench");
  const local = createFolderWorkbench(folder);
  await upload(randomBytes(1_000), { workbench: local });
  symlinkSync("/etc", join(folder, "s1", "link"));
  for (const path of ["../x", "a/../../x", "/etc/passwd", "link/passwd", "a//b", "a\\b", "."])
    await expect(local.stat({ session: "s1", path }, signal), path).rejects.toMatchObject({
      failure: "refused",
    });
  for (const session of ["..", ".uploads", "a/b", ""])
    await expect(local.stat({ session, path: "x" }, signal), session).rejects.toMatchObject({
      failure: "refused",
    });
});
