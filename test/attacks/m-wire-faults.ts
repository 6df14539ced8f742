import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RunResult } from "@retinue/core/schema/result";
import type { TestRuntime, TestRuntimeOptions } from "@retinue/core/testing";
import { expect } from "vitest";
import { chunkedReply, events, startRawServer, startServer } from "../fixtures/model-server.ts";
import { WIRE_FORMATS } from "../fixtures/wire-formats.ts";
import type { Attack, World } from "./attack.ts";
import { fastClock } from "./clocks.ts";

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const USAGE = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 9 } };
const TEXT = events(chunk({ content: "done" }), chunk({}, "stop"), USAGE, "[DONE]");

/** A call to transfer money, its input in two pieces so that a cut can leave a valid but smaller amount. */
function transferCall(amount: string): string[] {
  const start = {
    index: 0,
    id: "call_a",
    type: "function",
    function: { name: "transfer", arguments: `{"amount":${amount.slice(0, 1)}` },
  };
  return events(
    chunk({ tool_calls: [start] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: `${amount.slice(1)}}` } }] }),
    chunk({}, "tool_calls"),
    USAGE,
    "[DONE]",
  );
}

/** The lead speaks to a real server over the wire; time runs fast, so that back-off costs nothing. */
function onWire(url: string, world: World, minutes = 600): TestRuntimeOptions {
  return {
    tools: [world.tool("transfer")],
    settings: { providers: { wire: { kind: "openai-compatible", baseUrl: url } } },
    more: [{ name: "lead", description: "x", prompt: "x", model: "wire/m", limits: { minutes } }],
    internals: { clock: fastClock(1_000) },
  };
}

const run = (t: TestRuntime): Promise<RunResult> => t.runtime.run({ agent: "lead", task: "go" });

/** Faults that a server shows: how it fails, and what the run must say of it. */
const FAULTS: readonly { name: string; type: string; answer: (response: ServerResponse) => unknown }[] = [
  {
    name: "429",
    type: "rate_limit",
    answer: (response) =>
      response.writeHead(429, { "retry-after": "1" }).end('{"error":{"message":"slow down"}}'),
  },
  { name: "500", type: "overloaded", answer: (response) => response.writeHead(500).end("oops") },
  { name: "503", type: "overloaded", answer: (response) => response.writeHead(503).end("") },
  { name: "reset", type: "network", answer: (response) => response.socket?.resetAndDestroy() },
  {
    name: "reset in the middle",
    type: "network",
    answer: (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write(TEXT[0] ?? "", () => response.socket?.resetAndDestroy()),
  },
];

/** A stream is cut at each byte in the deep tests, otherwise at some of them, the first and the last. */
const STEP = process.env.RETINUE_DEEP === "1" ? 1 : 5;

/** Faults on the wire, seen from the run. */
export const WIRE_CASES: readonly Attack[] = [
  ...FAULTS.map(
    ({ name, type, answer }): Attack => ({
      id: `M1 ${name}`,
      title:
        "a server that keeps failing is asked again a bounded number of times, then the run fails with its type",
      noGuard: "the count of tries is part of the loop around each model call",
      setup: async (world) => {
        const server = await startServer((request, response) => {
          world.seen.push(request.path);
          if (world.broken && world.seen.length > 1)
            response.writeHead(200, { "content-type": "text/event-stream" }).end(TEXT.join(""));
          else answer(response);
        });
        world.atEnd(server.close);
        return onWire(server.url, world);
      },
      turns: () => ({}),
      act: run,
      oracle: ({ world, result }) => {
        expect(result).toMatchObject({ status: "failed", success: false, error: { type } });
        expect(world.seen.length).toBeGreaterThan(1);
        expect(world.seen.length).toBeLessThanOrEqual(4);
      },
    }),
  ),
  ...(["end", "reset"] as const).map(
    (how): Attack => ({
      id: `M2 ${how}`,
      title: "a stream cut at any byte never makes part of a call run; a later try succeeds",
      noGuard: "the reader of a wire format gives a call only when it is complete",
      setup: async (world) => {
        const server = await startRawServer((socket) => cutter(world, how).answer(socket));
        world.atEnd(server.close);
        return onWire(server.url, world);
      },
      turns: () => ({}),
      act: async (t, world) => {
        const cuts = cutter(world, how);
        let last = await run(t);
        while (cuts.next()) last = await run(t);
        return last;
      },
      oracle: ({ world, result }) => {
        const inputs = world.ran.get("transfer") ?? [];
        expect(inputs.length).toBeGreaterThan(0);
        for (const input of inputs) expect(input).toEqual({ amount: 100 });
        expect(result.status).toBe("completed");
      },
    }),
  ),
  ...WIRE_FORMATS.flatMap((format) =>
    (["length", "filter"] as const)
      .filter((finish) => finish === "length" || format.name !== "ollama")
      .map(
        (finish): Attack => ({
          id: `M13 ${format.name} ${finish}`,
          title:
            "a complete call of a reply that was cut or filtered does not run, and the model is told why",
          guards: ["isFinished"],
          setup: async (world) => {
            const call = { name: "transfer", input: '{"amount":100}' };
            const server = await startServer((request, response) => {
              world.seen.push(request.body);
              const reply = world.seen.length === 1 ? { calls: [call], finish } : { text: "done" };
              response.writeHead(200, { "content-type": format.contentType });
              response.end(format.encode(reply).join(""));
            });
            world.atEnd(server.close);
            const options = onWire(server.url, world);
            return {
              ...options,
              settings: { providers: { wire: { kind: format.name, baseUrl: server.url } } },
            };
          },
          turns: () => ({}),
          act: run,
          oracle: ({ world, result }) => {
            expect(world.count("transfer")).toBe(0);
            expect(result.status).toBe("completed");
            expect(String(world.seen[1])).toContain(
              finish === "length" ? "Your reply was cut at its limit" : "content filter stopped your reply",
            );
          },
        }),
      ),
  ),
  {
    id: "M8 flood",
    title: "a server that floods the line without end is cut off at a bound",
    noGuard: "the transport bounds what it reads, before a reply is guarded",
    setup: async (world) => {
      const flood = events(chunk({ content: "x".repeat(100_000) })).join("");
      const server = await startServer((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        if (world.broken) return response.end(TEXT.join(""));
        const more = () => {
          while (!response.destroyed && response.write(flood)) world.seen.push(1);
        };
        response.on("drain", more);
        more();
      });
      world.atEnd(server.close);
      return onWire(server.url, world);
    },
    turns: () => ({}),
    act: run,
    oracle: ({ world, result }) => {
      expect(result).toMatchObject({ status: "failed", error: { type: "bad_response" } });
      expect(world.seen.length * 100_000).toBeLessThan(4 * 33_000_000);
    },
  },
  {
    id: "M8 drip",
    title: "a server that only ever says that it is alive ends with the run's time",
    noGuard: "the run's own deadline stops the transport",
    setup: async (world) => {
      const server = await startServer((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const drip = setInterval(() => response.write(": alive\n\n"), 1);
        response.once("close", () => clearInterval(drip));
        if (world.broken) response.end(TEXT.join(""));
      });
      world.atEnd(server.close);
      return onWire(server.url, world, 2);
    },
    turns: () => ({}),
    act: run,
    oracle: ({ result }) =>
      expect(result).toMatchObject({ status: "timeout", success: false, bailout_reason: "timeout" }),
  },
];

type Cutter = { answer(socket: Socket): void; next(): boolean };

/** Answers a run's first request with one more byte than the run before it got, and every other one in full. */
function cutter(world: World, how: "end" | "reset"): Cutter {
  const known = world.seen[0] as Cutter | undefined;
  if (known) return known;
  const call = chunkedReply(transferCall(world.broken ? "999" : "100"));
  const text = chunkedReply(TEXT);
  let cut = world.broken ? call.length : 0;
  let first = true;
  const made: Cutter = {
    answer(socket) {
      if (!first) return void socket.end(text);
      first = false;
      if (how === "end" || cut === 0) return void socket.end(call.subarray(0, cut));
      socket.write(call.subarray(0, cut), () => socket.resetAndDestroy());
    },
    next() {
      cut = cut < call.length ? Math.min(cut + STEP, call.length) : call.length + 1;
      first = true;
      return cut <= call.length;
    },
  };
  world.seen.push(made);
  return made;
}
