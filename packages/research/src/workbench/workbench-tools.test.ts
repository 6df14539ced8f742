import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "@retinue/core/schema/settings";
import type { AnyTool, Tool } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { createFolderWorkbench } from "./folder-workbench.ts";
import { createWorkbench, createWorkbenchTools, workbenchTools } from "./workbench-tools.ts";

let place: ToolPlace;
let upload: AnyTool;
let download: AnyTool;
const bench = () => join(place.root, "bench");

beforeEach(() => {
  place = toolPlace();
  const [up, down] = createWorkbenchTools(createFolderWorkbench(bench()));
  if (!up || !down) throw new Error("two tools are missing");
  [upload, download] = [up, down];
});
afterEach(() => place.remove());

test("a file goes to the session's folder there and comes back, with size and checksum in the answer", async () => {
  place.write("data.txt", "twelve bytes");
  const up = await place.use(upload, { local_path: "data.txt", remote_path: "work/data.txt" });
  expect(JSON.parse(up.text)).toMatchObject({
    action: "upload",
    success: true,
    session_id: "ses",
    bytes: 12,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(readFileSync(join(bench(), "ses", "work", "data.txt"), "utf8")).toBe("twelve bytes");
  const changed: string[] = [];
  const input = { local_path: "workspace:back/data.txt", remote_path: "work/data.txt" };
  const down = await place.use(download, input, { changed: (path, kind) => changed.push(`${kind} ${path}`) });
  expect(JSON.parse(down.text)).toMatchObject({ action: "download", success: true, bytes: 12 });
  expect(changed).toEqual([`created ${join(place.workspaceDir, "back", "data.txt")}`]);
  expect(readFileSync(join(place.workspaceDir, "back", "data.txt"), "utf8")).toBe("twelve bytes");
});

test("every transfer leaves a note, whatever came of it", async () => {
  place.write("data.txt", "x");
  const notes: [string, string][] = [];
  const more = { rowId: 7, observed: (path: string, text: string) => notes.push([path, text]) };
  await place.use(upload, { local_path: "data.txt", remote_path: "a.txt", session_id: "other" }, more);
  await place.use(download, { local_path: "workspace:b", remote_path: "missing" }, more);
  expect(notes.map(([path]) => path)).toEqual([
    "workbench_activity/000007-upload-a-txt.json",
    "workbench_activity/000007-download-missing.json",
  ]);
  expect(notes.map(([, text]) => JSON.parse(text))).toMatchObject([
    { action: "upload", success: true, session_id: "other", bytes: 1, workbench: "the workbench folder" },
    { action: "download", success: false, error: expect.stringContaining("there is no missing") },
  ]);
});

test("paths there, ids of sessions and places here are held to what they may be", async () => {
  place.write("data.txt", "x");
  for (const remote_path of ["../x", "/x", "a/./b", "a\u0000b", "a".repeat(2_000)])
    expect((await place.use(upload, { local_path: "data.txt", remote_path })).isError, remote_path).toBe(
      true,
    );
  const strange = { local_path: "data.txt", remote_path: "x", session_id: "../other" };
  expect((await place.use(upload, strange)).text).toContain("session_id must be");
  for (const local_path of ["/etc/passwd", "../outside", "missing.txt"])
    expect((await place.use(upload, { local_path, remote_path: "x" })).isError, local_path).toBe(true);
  const there = { local_path: "/tmp/retinue-nowhere", remote_path: "x" };
  expect((await place.use(download, there)).text).toContain("outside the project");
});

test("a file that may not be read is not uploaded, and the project is written only by who may write it", async () => {
  place.write("secret.txt", "x");
  const hidden = { local_path: "secret.txt", remote_path: "x" };
  expect((await place.use(upload, hidden, { maySee: () => false })).text).toContain("no right to read");
  await place.use(upload, hidden);
  const into = (local_path: string) =>
    place.use(download, { local_path, remote_path: "x" }, { mayWrite: () => false });
  expect((await into("secret.txt")).text).toContain("no right to write");
  expect((await into("workspace:copy.txt")).isError).toBe(false);
});

test("a link that appears after the check is not followed", async () => {
  place.write("data.txt", "x");
  await place.use(upload, { local_path: "data.txt", remote_path: "x" });
  const outside = join(place.root, "outside.txt");
  writeFileSync(outside, "untouched");
  const path = join(place.workspaceDir, "copy.txt");
  const targets = [
    { kind: "path" as const, path, root: "workspace" as const, relative: "copy.txt", mode: "write" as const },
  ];
  symlinkSync(outside, path);
  mkdirSync(join(place.root, "elsewhere"));
  const done = await place.use(download, { local_path: "workspace:copy.txt", remote_path: "x" }, { targets });
  expect(done.isError).toBe(true);
  expect(readFileSync(outside, "utf8")).toBe("untouched");
});

test("whether a call happened is told by the checksums of both sides", async () => {
  const lookup = (tool: AnyTool, input: object) =>
    (tool as Tool<object>).lookup?.(input, {
      projectDir: place.projectDir,
      workspaceDir: place.workspaceDir,
      sessionId: "ses",
      runId: "run",
      callId: "call",
      signal: new AbortController().signal,
    });
  place.write("data.txt", "one");
  const input = { local_path: "data.txt", remote_path: "x" };
  expect(await lookup(upload, input)).toBeNull();
  await place.use(upload, input);
  expect(await lookup(upload, input)).toContain("found uploaded after an interruption");
  expect(await lookup(download, { ...input, local_path: "workspace:other" })).toBeNull();
  place.write("data.txt", "two");
  expect(await lookup(upload, input)).toBeNull();
});

test("an upload is outbound, and over HTTP of high risk with a host that rules can name", async () => {
  const places = { env: {}, homeDir: "/home/ada", dataDir: place.root, configDir: place.root };
  const over = (workbench: Settings["workbench"]) =>
    workbenchTools[0]?.withSettings?.({ workbench } as Settings, places) as Tool<object>;
  expect(over(undefined)).toMatchObject({ outbound: true, risk: "medium", replay: "lookup", offered: true });
  const remote = over({ url: "https://bench.example.org/v1" });
  expect(remote).toMatchObject({ outbound: true, risk: "high" });
  expect(await remote.access({ local_path: "a", remote_path: "b" }, place)).toContainEqual({
    kind: "host",
    host: "bench.example.org",
  });
  expect(workbenchTools.map((tool) => tool.offered)).toEqual([false, false]);
});

test("settings that cannot be meant are refused, and a missing key only when it is needed", async () => {
  const places = { env: {}, homeDir: "/home/ada", dataDir: place.root };
  for (const wrong of [
    { folder: "bench", url: undefined },
    { folder: "/a", url: "https://b" },
    { url: "ftp://b" },
    { url: "https://ada:pw@b" },
  ])
    expect(() => createWorkbench(wrong as Settings["workbench"] & object, places)).toThrow(/workbench/);
  const keyless = createWorkbench({ url: "https://b.example", keyEnv: "BENCH_KEY" }, places);
  const file = { session: "s", path: "p" };
  await expect(keyless.stat(file, new AbortController().signal)).rejects.toThrow(/BENCH_KEY .*not set/);
});
