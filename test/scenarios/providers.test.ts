import { readTree } from "@retinue/core/record/read-tree";
import type { ProviderSettings, Settings } from "@retinue/core/schema/settings";
import { after, failWith, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { describe, expect, test } from "vitest";
import { fastClock, handClock } from "../attacks/clocks.ts";
import type { TestServer } from "../fixtures/model-server.ts";
import { startRawServer, startServer } from "../fixtures/model-server.ts";
import { ANSWERED_BY, WIRE_FORMATS } from "../fixtures/wire-formats.ts";

const note = defineTool<{ text: string }>({
  name: "note",
  description: "Takes a note.",
  input: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  },
  replay: "safe",
  execute: async ({ text }) => `noted ${text}`,
});

type Given = Partial<Pick<Settings, "providers" | "prices" | "fallbacks" | "watchdog" | "model">>;

/** A runtime with one agent on a configured model; waits pass a hundred times faster. */
function runtimeWith(model: string, settings: Given, env: Record<string, string> = {}) {
  const solo = { name: "solo", description: "Works alone.", prompt: "You work.", model, tools: ["note"] };
  return testRuntime(
    {},
    { more: [solo], tools: [note], settings, env, internals: { clock: fastClock(100), random: () => 0.5 } },
  );
}

const openAi = (server: TestServer): ProviderSettings => ({ kind: "openai-compatible", baseUrl: server.url });
const format = WIRE_FORMATS.find(({ name }) => name === "openai-compatible") ?? WIRE_FORMATS[0];
const answering = (text: string) =>
  startServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(format?.encode({ text }).join(""));
  });
const failing = (status: number, headers: Record<string, string> = {}) =>
  startServer((_, response) => {
    response.writeHead(status, headers).end('{"error":{"message":"not now"}}');
  });

describe.each(WIRE_FORMATS)("over $name", (wire) => {
  test("parallel calls run, their results go back, and the whole is counted and priced", async () => {
    const calls = ["a", "b"].map((text) => ({ name: "note", input: JSON.stringify({ text }) }));
    const server = await startServer((request, response) => {
      const reply = request.body.includes("noted b")
        ? { text: "Both are noted." }
        : { reasoning: "two", calls };
      response.writeHead(200, { "content-type": wire.contentType }).end(wire.encode(reply).join(""));
    });
    await using t = runtimeWith("p/m", {
      providers: { p: { kind: wire.name, baseUrl: server.url } },
      prices: { "p/m": { input: 1, output: 2, cacheRead: 0.1, reasoning: 3 } },
    });
    const result = await t.runtime.run({ agent: "solo", task: "note a and b" });
    expect(result).toMatchObject({
      status: "completed",
      summary: "Both are noted.",
      model: "p/m",
      tool_calls_used: 2,
    });
    expect(result.tokens.self).toBe(260);
    const each = (wire.told.cached ? 64 : 100) + (wire.told.reasoning ? 70 : 60);
    expect(result.cost_usd.self).toBeCloseTo((2 * each) / 1_000_000, 12);
    expect(server.seen).toHaveLength(2);
    expect(server.seen[1]?.body).toContain("noted a");
    const [, , second] = await rowsOf(t, result.session_id);
    expect(second).toMatchObject({ model: "p/m", answeredBy: ANSWERED_BY, status: "completed" });
    await server.close();
  });
});

test("a dead endpoint is a typed failure after a few tries", async () => {
  const gone = await startServer(() => {});
  await gone.close();
  await using t = runtimeWith("p/m", { providers: { p: openAi(gone) } });
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "failed", error: { type: "network" } });
  expect(await rowsOf(t, result.session_id)).toHaveLength(1 + 4);
});

test("an endpoint that takes the call and never answers is given up by the watchdog", async () => {
  const silent = await startRawServer(() => {});
  await using t = runtimeWith("p/m", {
    providers: { p: openAi(silent) },
    watchdog: { firstTokenMs: 50, idleMs: 50 },
  });
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({
    status: "timeout",
    bailout_reason: "first_token_timeout",
    error: { type: "timeout" },
  });
  await silent.close();
});

test("an endpoint that falls silent in the middle of a reply is given up by the watchdog", async () => {
  const silent = await startServer((_, response) => {
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .write(format?.encode({ text: "I am" })[1] ?? "");
  });
  await using t = runtimeWith("p/m", {
    providers: { p: openAi(silent) },
    watchdog: { firstTokenMs: 60_000, idleMs: 50 },
  });
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "idle_timeout" });
  await silent.close();
});

test("retries on a rate limit are bounded per run, and all runs wait together", async () => {
  const first: (() => void)[] = [];
  let open = 0;
  let most = 0;
  const server = await startServer((_, response) => {
    const refuse = () => response.writeHead(429, { "retry-after-ms": "200" }).end("{}");
    if (first.length < 6) {
      if (first.push(refuse) === 6) for (const answer of first) answer();
      return;
    }
    most = Math.max(most, ++open);
    setImmediate(() => {
      open--;
      refuse();
    });
  });
  await using t = runtimeWith("p/m", { providers: { p: openAi(server) } });
  const results = await t.runtime.fanOut(
    Array.from({ length: 6 }, () => ["solo", "go"] as const),
    { maxConcurrent: 6 },
  );
  expect(results.map(({ error }) => error?.type)).toEqual(Array(6).fill("rate_limit"));
  expect(server.seen.length).toBeLessThanOrEqual(6 * 4);
  expect(most).toBe(1);
  await server.close();
});

test("after a rate limit a server error does not let more calls through than the one that probes", async () => {
  const rateLimited = failWith("rate_limit", "slow down", { recoverable: true, retryAfterMs: 1_000 });
  const broken = failWith("overloaded", "broken", { recoverable: false });
  const begun = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const answers = begun.map(() => Promise.withResolvers<void>());
  const steps = [rateLimited, broken, say("one"), say("two")];
  const clock = handClock();
  let call = 0;
  await using t = testRuntime(
    {
      solo: () => {
        const nth = call++;
        begun[nth]?.resolve();
        return after(answers[nth]?.promise ?? Promise.resolve(), steps[nth] ?? say("more"));
      },
    },
    {
      lenient: true,
      settings: { providers: { scripted: { kind: "openai-compatible", maxConcurrent: 4 } } },
      internals: { clock },
    },
  );
  const untilWaiting = async (times: number) => {
    const waits = () => t.events.filter((event) => event.type === "run.waiting" && event.on === "provider");
    while (waits().length < times) await new Promise((resolve) => setImmediate(resolve));
  };
  const first = t.runtime.run({ agent: "solo", task: "go" });
  await begun[0]?.promise;
  answers[0]?.resolve();
  await untilWaiting(1);
  clock.advance(1_001);
  await begun[1]?.promise;
  const others = t.runtime.fanOut(
    Array.from({ length: 3 }, () => ["solo", "go"] as const),
    { maxConcurrent: 3 },
  );
  await untilWaiting(4);
  answers[1]?.resolve();
  await begun[2]?.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(call).toBe(3);
  for (const answer of answers) answer.resolve();
  expect(await first).toMatchObject({ status: "failed", error: { type: "overloaded" } });
  expect((await others).map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
});

test("after a rate limit a run that is stopped while it waits for a slot does not let more calls through", async () => {
  const clock = handClock();
  const rateLimited = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const refusal = failWith("rate_limit", "slow down", { recoverable: true, retryAfterMs: 1_000 });
  await using t = testRuntime(
    {
      first: [after(rateLimited.promise, refusal), say("one")],
      second: [after(answered.promise, say("two"))],
      third: [],
    },
    {
      lenient: true,
      settings: {
        maxConcurrent: 1,
        providers: { scripted: { kind: "openai-compatible", maxConcurrent: 4 } },
      },
      internals: { clock },
    },
  );
  const waits = (runId: string) =>
    t.events.flatMap((event) => (event.type === "run.waiting" && event.runId === runId ? [event.on] : []));
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  const first = await t.runtime.start({ agent: "first", task: "go" });
  await until(() => t.models.first?.requests.length === 1);
  const second = await t.runtime.start({ agent: "second", task: "go" });
  await until(() => waits(second.runId).at(-1) === "slot");
  const third = await t.runtime.start({ agent: "third", task: "go" });
  await until(() => waits(third.runId).at(-1) === "slot");
  rateLimited.resolve();
  await until(() => waits(first.runId).at(-1) === "provider");
  t.runtime.cancel(third.runId);
  expect(await third.result).toMatchObject({ status: "cancelled" });
  clock.advance(1_001);
  await new Promise((resolve) => setImmediate(resolve));
  expect(waits(first.runId)).toEqual(["provider"]);
  answered.resolve();
  expect(await second.result).toMatchObject({ status: "completed" });
  expect(await first.result).toMatchObject({ status: "completed" });
});

describe("fallbacks", () => {
  test.each([
    ["overloaded", 503],
    ["rate limited for long", 429],
    ["unknown at its provider", 404],
  ])("a model that is %s is replaced, told and recorded as what was really called", async (_, status) => {
    const primary = await failing(status, { "retry-after": status === 429 ? "3600" : "0" });
    const backup = await answering("From the backup.");
    await using t = runtimeWith("p/big", {
      providers: { p: openAi(primary), q: openAi(backup) },
      prices: { "p/big": { input: 100, output: 100 }, "q/small": { input: 1, output: 1 } },
      fallbacks: { "p/big": ["q/small"] },
    });
    const result = await t.runtime.run({ agent: "solo", task: "go" });
    expect(result).toMatchObject({ status: "completed", summary: "From the backup.", model: "q/small" });
    expect(result.cost_usd.self).toBeCloseTo(130 / 1_000_000, 12);
    const calls = (await rowsOf(t, result.session_id)).slice(1);
    expect(calls.map(({ model }) => model)).toEqual([...Array(calls.length - 1).fill("p/big"), "q/small"]);
    expect(calls.at(-1)).toMatchObject({ answeredBy: ANSWERED_BY, status: "completed" });
    const notices = t.events.flatMap((event) => (event.type === "notice.raised" ? [event] : []));
    expect(notices).toMatchObject([
      { level: "warning", message: expect.stringMatching(/^q\/small takes over, because p\/big is/) },
    ]);
    expect(result.warnings).toEqual([notices[0]?.message]);
    await Promise.all([primary.close(), backup.close()]);
  });

  test("who took over stays for the rest of the run, and the next run begins with the first again", async () => {
    const primary = await failing(503);
    const calls = [{ name: "note", input: '{"text":"a"}' }];
    const backup = await startServer((request, response) => {
      const reply = request.body.includes("noted a") ? { text: "done" } : { calls };
      response.writeHead(200, { "content-type": "text/event-stream" }).end(format?.encode(reply).join(""));
    });
    await using t = runtimeWith("p/m", {
      providers: { p: openAi(primary), q: openAi(backup) },
      fallbacks: { "p/m": ["q/m"] },
    });
    await t.runtime.run({ agent: "solo", task: "go" });
    const before = primary.seen.length;
    expect([before, backup.seen.length]).toEqual([4, 2]);
    await t.runtime.run({ agent: "solo", task: "go" });
    expect(primary.seen.length).toBe(2 * before);
    await Promise.all([primary.close(), backup.close()]);
  });

  test("a model without its key is replaced only where a fallback is named, and the missing key is told", async () => {
    const backup = await answering("From the backup.");
    const settings = {
      providers: { q: openAi(backup) },
      fallbacks: { "anthropic/claude-x": ["openai/gpt-5", "q/m"] },
    };
    await using t = runtimeWith("anthropic/claude-x", settings);
    const result = await t.runtime.run({ agent: "solo", task: "go" });
    expect(result).toMatchObject({ status: "completed", model: "q/m" });
    expect(result.warnings.join("\n")).toMatch(
      /ANTHROPIC_API_KEY is not set[\s\S]*OPENAI_API_KEY is not set/,
    );
    await using none = runtimeWith("anthropic/claude-y", settings);
    await expect(none.runtime.run({ agent: "solo", task: "go" })).rejects.toMatchObject({ code: "auth" });
    await using all = runtimeWith("anthropic/claude-x", {
      fallbacks: { "anthropic/claude-x": ["openai/gpt-5"] },
    });
    await expect(all.runtime.run({ agent: "solo", task: "go" })).rejects.toMatchObject({ code: "auth" });
    await backup.close();
  });

  test("a refused key and a bad request are not papered over", async () => {
    for (const [status, type] of [
      [401, "auth"],
      [400, "bad_response"],
    ] as const) {
      const primary = await failing(status);
      const backup = await answering("never");
      await using t = runtimeWith("p/m", {
        providers: { p: openAi(primary), q: openAi(backup) },
        fallbacks: { "p/m": ["q/m"] },
      });
      expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
        status: "failed",
        error: { type },
      });
      expect(backup.seen).toEqual([]);
      await Promise.all([primary.close(), backup.close()]);
    }
  });

  test("a fallback's call is reserved at its own price", async () => {
    const primary = await failing(503);
    const backup = await answering("cheap");
    const settings = {
      providers: { p: openAi(primary), q: openAi(backup) },
      prices: { "p/m": { input: 0.01, output: 0.01 }, "q/m": { input: 1_000, output: 1_000 } },
      fallbacks: { "p/m": ["q/m"] },
    };
    await using t = runtimeWith("p/m", settings);
    const result = await t.runtime.run({ agent: "solo", task: "go", limits: { costUsd: 0.01 } });
    expect(backup.seen).toEqual([]);
    expect(result.cost_usd.self).toBe(0);
    await Promise.all([primary.close(), backup.close()]);
  });
});

describe("Ollama on this machine", () => {
  test("is the default where nothing is configured, and is asked for nothing where something is", async () => {
    const wire = WIRE_FORMATS.find(({ name }) => name === "ollama");
    const server = await startServer((request, response) => {
      if (request.path === "/api/tags") return response.end('{"models":[{"name":"qwen3:8b"}]}');
      if (request.path === "/api/show") return response.end('{"capabilities":["completion","tools"]}');
      return response.end(wire?.encode({ text: "From here." }).join(""));
    });
    await using t = runtimeWith("inherit", {}, { OLLAMA_HOST: server.url });
    const result = await t.runtime.run({ agent: "solo", task: "go" });
    expect(result).toMatchObject({ status: "completed", summary: "From here.", model: "ollama/qwen3:8b" });
    const asked = server.seen.length;
    const other = await answering("From there.");
    await using set = runtimeWith(
      "inherit",
      { providers: { q: openAi(other) }, model: "q/m" },
      { OLLAMA_HOST: server.url },
    );
    expect(await set.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ model: "q/m" });
    expect(server.seen.length).toBe(asked);
    await Promise.all([server.close(), other.close()]);
  });
});

/** Model, status and answering model of the run and of each of its model calls. */
async function rowsOf(t: ReturnType<typeof testRuntime>, sessionId: string) {
  const [root] = await readTree(t.runtime.record, sessionId);
  return [root, ...(root?.children ?? [])].map((row) => ({
    model: row?.model_id,
    status: row?.status,
    answeredBy: JSON.parse(row?.metadata_json ?? "{}").answeredBy,
  }));
}
