import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findRunningServer } from "@retinue/server/running-server";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { type Started, World } from "./world.ts";

type Place = { url: string; port: number; pid: number };

/** Starts a server and waits until it says where it is. */
async function serve(world: World, ...args: string[]): Promise<{ call: Started; place: Place }> {
  const call = world.start(["serve", "--json", "--no-open", "--port", "0", ...args]);
  const place = await new Promise<Place>((resolve, reject) => {
    let text = "";
    call.child.stdout?.on("data", (part: string) => {
      text += part;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    call.ended.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)), reject);
  });
  return { call, place };
}

async function cookieOf({ url }: Place): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const notes = (world: World) =>
  readdirSync(join(world.data, "server")).filter((name) => name.endsWith(".json"));

test("a link of `serve` opens the app once, a second `serve` gives another, and a signal ends it well", async () => {
  await using world = new World();
  const { call, place } = await serve(world);
  expect(place).toMatchObject({
    pid: call.child.pid,
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/),
  });
  const origin = new URL(place.url).origin;
  const cookie = await cookieOf(place);
  expect((await fetch(place.url, { redirect: "manual" })).status).toBe(401);
  expect((await fetch(`${origin}/api/about`)).status).toBe(401);
  const about = await fetch(`${origin}/api/about`, { headers: { cookie } });
  expect(await about.json()).toMatchObject({ project: world.project });
  expect((await fetch(`${origin}/`, { headers: { cookie } })).headers.get("content-type")).toContain(
    "text/html",
  );

  const second = await world.run(["serve", "--json", "--no-open"]);
  expect([second.code, second.stderr]).toEqual([0, expect.stringContaining("runs already")]);
  const again: Place = JSON.parse(second.stdout);
  expect([again.pid, again.port]).toEqual([place.pid, place.port]);
  await cookieOf(again);

  const events = await fetch(`${origin}/api/events`, { headers: { cookie } });
  expect(events.headers.get("content-type")).toContain("text/event-stream");
  call.child.kill("SIGTERM");
  const { code, signal } = await call.ended;
  expect([code, signal]).toEqual([0, null]);
  await events.text().catch(() => "cut off");
  expect(notes(world)).toEqual([]);
});

test("a browser stays signed in when the server restarts at the same port", async () => {
  await using world = new World();
  const first = await serve(world);
  const cookie = await cookieOf(first.place);
  first.call.child.kill("SIGINT");
  await first.call.ended;
  const second = await serve(world, "--port", String(first.place.port));
  const response = await fetch(`http://127.0.0.1:${first.place.port}/api/about`, { headers: { cookie } });
  expect(response.status).toBe(200);
  second.call.child.kill("SIGINT");
  await second.call.ended;
});

test("programs of the same user find the server and its key, as long as it runs", async () => {
  await using world = new World();
  const { call, place } = await serve(world);
  const where = { dataDir: world.data, projectDir: world.project };
  const running = await findRunningServer(where);
  expect(running).toMatchObject({ pid: place.pid, port: place.port });
  const headers = { authorization: `Bearer ${running?.bearer}` };
  const response = await fetch(`${running?.origin}/api/openapi.json`, { headers });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("/api/links")]);
  call.child.kill("SIGKILL");
  await call.ended;
  expect(notes(world)).toHaveLength(1);
  expect(await findRunningServer(where)).toBeNull();
});

test("a session under way survives the end of the server and continues when it restarts", async () => {
  await using world = new World();
  const asked = Promise.withResolvers<void>();
  let calls = 0;
  world.model = await startModel(() => {
    asked.resolve();
    return ++calls === 1 ? { hang: true } : { text: "All is done." };
  });
  world.agent("main", "");
  world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 0 }));
  const first = await serve(world);
  const cookie = await cookieOf(first.place);
  const { origin } = new URL(first.place.url);
  const begun = await fetch(`${origin}/api/sessions`, {
    method: "POST",
    headers: { cookie, origin, "content-type": "application/json" },
    body: JSON.stringify({ task: "do it" }),
  });
  const { sessionId }: { sessionId: string } = JSON.parse(await begun.text());
  await asked.promise;
  first.call.child.kill("SIGTERM");
  expect((await first.call.ended).code).toBe(0);

  const second = await serve(world, "--port", String(first.place.port));
  const events = await fetch(`${origin}/api/sessions/${sessionId}/events?after=0`, { headers: { cookie } });
  let told = "";
  for await (const part of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += part;
    if (told.includes("All is done.")) break;
  }
  expect(told).toContain("All is done.");
  second.call.child.kill("SIGTERM");
  const { stderr } = await second.call.ended;
  expect(stderr).toContain(`going on with what was left: ${sessionId}`);
  expect(calls).toBe(2);
});

for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  test(`${signal} lets the model calls of a server end, and the next start does not make them again`, async () => {
    await using world = new World();
    const asked = Promise.withResolvers<void>();
    const { promise: given, resolve: letGo } = Promise.withResolvers<void>();
    world.model = await startModel(async ({ turn, all }) => {
      if (turn > 0) return { text: all.includes("first words") ? "All is done." : "lost" };
      asked.resolve();
      await given;
      return { text: "first words", calls: [{ name: "list_directory", input: { path: "." } }] };
    });
    world.agent("main", "");
    const first = await serve(world);
    const cookie = await cookieOf(first.place);
    const { origin } = new URL(first.place.url);
    const begun = await fetch(`${origin}/api/sessions`, {
      method: "POST",
      headers: { cookie, origin, "content-type": "application/json" },
      body: JSON.stringify({ task: "do it" }),
    });
    const { sessionId }: { sessionId: string } = JSON.parse(await begun.text());
    await asked.promise;
    first.call.child.kill(signal);
    await first.call.stderrHas("stopping; once more to leave at once");
    letGo();
    expect((await first.call.ended).code).toBe(0);
    expect(world.model.requests).toHaveLength(1);
    const resumed = await world.run(["resume", sessionId]);
    expect([resumed.code, resumed.stdout.trim()]).toEqual([0, "All is done."]);
    expect(world.model.requests).toHaveLength(2);
  });
}

test("a foreign host and a taken port are refused before anything is opened", async () => {
  await using world = new World();
  const foreign = await world.run(["serve", "--host", "0.0.0.0"]);
  expect([foreign.code, foreign.stderr]).toEqual([42, expect.stringContaining("ssh -L")]);
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const taken = await world.run(["serve", "--port", port]);
  expect([taken.code, taken.stderr]).toEqual([42, expect.stringContaining(`port ${port} is taken`)]);
  other.close();
  expect(existsSync(join(world.data, "retinue.db"))).toBe(false);
});
