import { describe, expect, test } from "vitest";
import { callService } from "./call-service.ts";
import { writeFault } from "./service-tool.ts";
import { type FaultType, ToolFault } from "./tool-fault.ts";

type Step = FaultType | { type: FaultType; retryAfterMs: number } | "ok";

/** A service that meets these faults one after another, and what was done with it. */
function scripted(...steps: Step[]) {
  const log: string[] = [];
  const waits: number[] = [];
  const provider = {
    refresh: async () => {
      log.push("refresh");
    },
  };
  const what = async () => {
    log.push("attempt");
    const step = steps.shift() ?? "ok";
    if (step === "ok") return "done";
    const { type, retryAfterMs } = typeof step === "string" ? { type: step, retryAfterMs: undefined } : step;
    throw new ToolFault(type, type, { retryAfterMs });
  };
  const options = {
    tool: "t",
    signal: new AbortController().signal,
    sleep: async (ms: number) => void waits.push(ms),
    random: () => 1,
  };
  return { log, waits, provider, what, options };
}

const readOutcome = (call: Promise<string>) => call.catch((thrown: ToolFault) => thrown.type);

describe("the error policy", () => {
  const rows: [name: string, steps: Step[], outcome: string, log: string, waits: number[]][] = [
    ["success needs one attempt", ["ok"], "done", "attempt", []],
    ["a refused token is renewed", ["auth", "ok"], "done", "attempt refresh attempt", []],
    ["it is renewed once only", ["auth", "auth", "ok"], "auth", "attempt refresh attempt", []],
    ["a rate limit is waited out", ["rate_limit", "ok"], "done", "attempt attempt", [1_000]],
    [
      "it is waited out twice",
      ["rate_limit", "rate_limit", "rate_limit"],
      "rate_limit",
      "attempt attempt attempt",
      [1_000, 2_000],
    ],
    [
      "as long as the service wants",
      [{ type: "rate_limit", retryAfterMs: 7_000 }],
      "done",
      "attempt attempt",
      [7_000],
    ],
    ["a minute at most", [{ type: "rate_limit", retryAfterMs: 60_000 }], "done", "attempt attempt", [60_000]],
    ["and not longer", [{ type: "rate_limit", retryAfterMs: 60_001 }], "rate_limit", "attempt", []],
    [
      "a lost connection is tried three more times",
      ["network", "network", "network", "network"],
      "network",
      "attempt attempt attempt attempt",
      [500, 1_000, 2_000],
    ],
    ["and may come back", ["network", "network", "ok"], "done", "attempt attempt attempt", [500, 1_000]],
    ["wrong parameters are final", ["params"], "params", "attempt", []],
    ["a missing right is final", ["permission"], "permission", "attempt", []],
    ["anything else is final", ["tool_error"], "tool_error", "attempt", []],
    [
      "each kind has its own count",
      ["network", "auth", "rate_limit", "network", "ok"],
      "done",
      "attempt attempt refresh attempt attempt attempt",
      [500, 1_000, 1_000],
    ],
  ];
  test.each(rows)("%s", async (_name, steps, outcome, log, waits) => {
    const service = scripted(...steps);
    expect(await readOutcome(callService(service.provider, service.what, service.options))).toBe(outcome);
    expect(service.log.join(" ")).toBe(log);
    expect(service.waits).toEqual(waits);
  });

  test("where no token can be renewed, a refused one is final", async () => {
    const { what, options, log } = scripted("auth");
    expect(await readOutcome(callService({}, what, options))).toBe("auth");
    expect(log).toEqual(["attempt"]);
  });

  test("a renewal that fails is what the caller learns", async () => {
    const { what, options } = scripted("auth");
    const provider = { refresh: () => Promise.reject(new ToolFault("auth", "sign in again")) };
    await expect(callService(provider, what, options)).rejects.toThrow("sign in again");
  });

  test("waits are never longer than without chance, and at least half of it", async () => {
    const { provider, what, options, waits } = scripted("network", "network");
    await callService(provider, what, { ...options, random: () => 0 });
    expect(waits).toEqual([250, 500]);
  });

  test("a fault that says it is final is not tried again", async () => {
    const { provider, options, log } = scripted();
    const what = async () => {
      log.push("attempt");
      throw new ToolFault("network", "half sent", { recoverable: false });
    };
    await expect(callService(provider, what, options)).rejects.toThrow("half sent");
    expect(log).toEqual(["attempt"]);
  });

  test("an error that is not a fault becomes the tool's own", async () => {
    const { provider, options } = scripted();
    const call = callService(
      provider,
      () => Promise.reject(new TypeError("undefined is no function")),
      options,
    );
    await expect(call).rejects.toMatchObject({ type: "tool_error", recoverable: false });
  });

  test("a stop ends the waiting", async () => {
    const stop = new AbortController();
    const { provider, what, options, log } = scripted("network");
    const sleep = async (_ms: number, signal: AbortSignal) => {
      stop.abort(new Error("stopped"));
      signal.throwIfAborted();
    };
    await expect(callService(provider, what, { ...options, sleep, signal: stop.signal })).rejects.toThrow(
      "stopped",
    );
    expect(log).toEqual(["attempt"]);
  });
});

describe("a write", () => {
  /** Its answers get lost although it happened, from the `landing`th attempt on. */
  function lossy(landing: number, lookups: (ToolFault | undefined)[] = []) {
    const service = scripted();
    let attempts = 0;
    const what = async (): Promise<string> => {
      service.log.push("write");
      attempts++;
      throw new ToolFault("network", "reset");
    };
    const lookup = async () => {
      service.log.push("lookup");
      const fault = lookups.shift();
      if (fault) throw fault;
      return attempts >= landing ? "found" : null;
    };
    return {
      ...service,
      call: () => callService(service.provider, what, { ...service.options, write: { lookup } }),
    };
  }

  test("that happened although its answer was lost is not repeated", async () => {
    const { call, log } = lossy(1);
    expect(await call()).toBe("found");
    expect(log).toEqual(["write", "lookup"]);
  });

  test("is looked up before each repetition, and once more before it is given up", async () => {
    const { call, log } = lossy(4);
    expect(await call()).toBe("found");
    expect(log.join(" ")).toBe("write lookup write lookup write lookup write lookup");
  });

  test("that never happened fails as the service did", async () => {
    await expect(lossy(9).call()).rejects.toMatchObject({ type: "network", recoverable: true });
  });

  test("is not repeated while nobody can say whether it happened", async () => {
    const down = () => new ToolFault("network", "down");
    const { call, log } = lossy(9, [down(), down(), down(), down()]);
    await expect(call()).rejects.toMatchObject({
      recoverable: false,
      message: expect.stringContaining("not known whether 't' took effect"),
    });
    expect(log.filter((each) => each === "write")).toHaveLength(1);
  });

  test("that was refused for good is not looked up", async () => {
    const { provider, options, log } = scripted();
    const what = () => Promise.reject(new ToolFault("params", "no such channel"));
    const lookup = async () => {
      log.push("lookup");
      return null;
    };
    await expect(callService(provider, what, { ...options, write: { lookup } })).rejects.toThrow(
      "no such channel",
    );
    expect(log).toEqual([]);
  });
});

test("a fault is told as JSON, with the seconds to wait", () => {
  const fault = new ToolFault("rate_limit", "slow down", { retryAfterMs: 61_500 });
  expect(JSON.parse(writeFault(fault, "gmail_send_email").text)).toEqual({
    error: {
      type: "rate_limit",
      message: "slow down",
      tool: "gmail_send_email",
      recoverable: true,
      retry_after: 62,
    },
  });
});

test.each([
  [-5_000, 0],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
])("a wait of %s ms is told as %s s", (retryAfterMs, told) => {
  const { text } = writeFault(new ToolFault("rate_limit", "slow down", { retryAfterMs }), "t");
  expect(JSON.parse(text).error.retry_after).toBe(told);
});

test("a server's words are cut and nothing in them is invisible", () => {
  const { text } = writeFault(new ToolFault("tool_error", `no\u200b${"x".repeat(1_000_000)}`), "t");
  expect(text).toContain("no\\\\u{200b}x");
  expect(text.length).toBeLessThan(3_000);
});
