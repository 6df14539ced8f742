import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadServerKey } from "@retinue/server/guard/server-key";
import { DEFAULT_PORT, listen } from "@retinue/server/listen";
import { findRunningServer, writeServerNote } from "@retinue/server/running-server";
import { afterEach, beforeEach, expect, test } from "vitest";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-listen-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test.each(["0.0.0.0", "::", "192.168.1.2", "example.org", "", "127.0.0.1.evil.example", "127.0.0.2"])(
  "the server does not listen on '%s', and says how else it can be reached",
  async (host) => {
    await expect(listen({ host, port: 0 })).rejects.toMatchObject({
      code: "input",
      hint: expect.stringContaining("ssh -L"),
    });
  },
);

test.each(["127.0.0.1", "localhost"])("it listens on %s, of this machine alone", async (host) => {
  const { server, port, origin } = await listen({ host, port: 0 });
  expect(server.address()).toMatchObject({ address: "127.0.0.1", port });
  expect(origin).toBe(`http://${host}:${port}`);
  server.close();
});

test("a port that was named and is taken is an error; otherwise the next one will do", async () => {
  const first = await listen({});
  const second = await listen({});
  try {
    expect(first.port).toBeGreaterThanOrEqual(DEFAULT_PORT);
    expect(second.port).toBeGreaterThan(first.port);
    await expect(listen({ port: first.port })).rejects.toMatchObject({
      code: "input",
      message: `port ${first.port} is taken by other programs`,
      hint: "name a free one with --port",
    });
  } finally {
    first.server.close();
    second.server.close();
  }
});

test("the key is made once, for its owner alone, also when two make it at once", async () => {
  const keys = await Promise.all([loadServerKey(root), loadServerKey(root), loadServerKey(root)]);
  const again = await loadServerKey(root);
  for (const key of keys) expect(key.equals(again)).toBe(true);
  expect(again).toHaveLength(32);
  expect(statSync(join(root, "server")).mode & 0o777).toBe(0o700);
  expect(statSync(join(root, "server", "key")).mode & 0o777).toBe(0o600);
});

test("a key that others can read, or that is a link or nonsense, is refused", async () => {
  await loadServerKey(root);
  const path = join(root, "server", "key");
  chmodSync(path, 0o640);
  await expect(loadServerKey(root)).rejects.toMatchObject({
    code: "config",
    hint: expect.stringContaining("chmod 600"),
  });
  chmodSync(path, 0o600);
  const text = readFileSync(path, "utf8");
  rmSync(path);
  writeFileSync(join(root, "elsewhere"), text, { mode: 0o600 });
  symlinkSync(join(root, "elsewhere"), path);
  await expect(loadServerKey(root)).rejects.toMatchObject({ code: "config" });
  rmSync(path);
  writeFileSync(path, "short", { mode: 0o600 });
  await expect(loadServerKey(root)).rejects.toMatchObject({
    code: "config",
    message: expect.stringContaining("no key"),
  });
});

test("a data folder that cannot be used is an error with what to do, not a defect", async () => {
  const file = join(root, "file");
  writeFileSync(file, "no folder");
  await expect(loadServerKey(file)).rejects.toMatchObject({
    code: "store",
    message: expect.stringContaining(file),
    hint: expect.stringContaining("RETINUE_HOME"),
  });
});

test("a note of a server that is gone, or of somebody else at its port, finds none", async () => {
  const place = { dataDir: root, projectDir: join(root, "project") };
  mkdirSync(place.projectDir);
  expect(await findRunningServer(place)).toBeNull();
  const { server, port, origin } = await listen({ port: 0 });
  const heard: string[] = [];
  server.on("request", (request, response) => {
    heard.push(request.headers.authorization ?? "");
    response.writeHead(401).end();
  });
  const note = { pid: process.pid, port, startedAt: new Date(0).toISOString(), startId: "one" };
  await writeServerNote(place, { ...note, origin });
  expect(await findRunningServer(place)).toBeNull();
  await writeServerNote(place, { ...note, origin, startId: "two" });
  expect(await findRunningServer(place)).toBeNull();
  expect(new Set(heard).size).toBe(2);
  await writeServerNote(place, { ...note, origin: "http://evil.example:80" });
  expect(await findRunningServer(place)).toBeNull();
  server.close();
  server.closeAllConnections();
  await writeServerNote(place, { ...note, origin });
  expect(await findRunningServer(place)).toBeNull();
});
