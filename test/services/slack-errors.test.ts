import { callService } from "@retinue/assistant/service-tools/call-service";
import type { FaultType } from "@retinue/assistant/service-tools/tool-fault";
import { ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import type { SlackProvider } from "@retinue/assistant/slack/slack-provider";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Fault } from "./fault-proxy.ts";
import { startWorkspace, TOKENS, type Workspace } from "./slack-workspace.ts";

const HISTORY = "POST /api/conversations.history";
const POST = "POST /api/chat.postMessage";
const RENEWAL = "POST /api/oauth.v2.access";
const refresh = { clientId: "client", clientSecret: "hush", refreshToken: TOKENS.refresh };

const refused = (error: string, more: object = {}, headers: Record<string, string> = {}): Fault => ({
  kind: "status",
  status: 200,
  headers,
  body: { ok: false, error, ...more },
});
const http = (status: number, headers: Record<string, string> = {}): Fault => ({
  kind: "status",
  status,
  headers,
});
const limited = (seconds: number) => http(429, { "retry-after": String(seconds) });
const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault);

let workspace: Workspace;
const never = new AbortController().signal;
const printed = ["log", "info", "warn", "error", "debug"] as const;

beforeAll(() => {
  for (const name of printed) vi.spyOn(console, name);
});
afterAll(() => {
  vi.restoreAllMocks();
});
beforeEach(async () => {
  workspace = await startWorkspace();
});
afterEach(() => workspace.close());

type Row = {
  readonly title: string;
  readonly faults: readonly Fault[];
  /** Requests that the client made. */
  readonly attempts: number;
  readonly ends: "well" | FaultType;
  readonly says?: RegExp;
  readonly renewals?: number;
  readonly waits?: readonly number[];
};

const ROWS: readonly Row[] = [
  { title: "an expired token", faults: [refused("token_expired")], attempts: 2, ends: "well", renewals: 1 },
  { title: "HTTP 401", faults: [http(401)], attempts: 2, ends: "well", renewals: 1 },
  {
    title: "a token refused twice",
    faults: times(2, refused("invalid_auth")),
    attempts: 2,
    ends: "auth",
    renewals: 1,
  },
  {
    title: "a lost scope",
    faults: [refused("missing_scope", { needed: "channels:history" })],
    attempts: 1,
    ends: "permission",
    says: /'channels:history'/,
  },
  {
    title: "a channel not joined",
    faults: [refused("not_in_channel")],
    attempts: 1,
    ends: "permission",
    says: /not a member/,
  },
  {
    title: "a restricted action",
    faults: [refused("restricted_action_read_only_channel")],
    attempts: 1,
    ends: "permission",
  },
  { title: "HTTP 403", faults: [http(403)], attempts: 1, ends: "permission" },
  { title: "no such channel", faults: [refused("channel_not_found")], attempts: 1, ends: "params" },
  { title: "wrong arguments", faults: [refused("invalid_arguments")], attempts: 1, ends: "params" },
  { title: "HTTP 400", faults: [http(400)], attempts: 1, ends: "params" },
  { title: "one rate limit", faults: [limited(7)], attempts: 2, ends: "well", waits: [7_000] },
  {
    title: "a rate limit with a date",
    faults: [http(429, { "retry-after": "Thu, 01 Jan 1970 00:01:05 GMT" })],
    attempts: 2,
    ends: "well",
    waits: [5_000],
  },
  { title: "a rate limit without a time", faults: [http(429)], attempts: 2, ends: "well", waits: [1_000] },
  {
    title: "a rate limit told in the body",
    faults: [refused("ratelimited", {}, { "retry-after": "3" })],
    attempts: 2,
    ends: "well",
    waits: [3_000],
  },
  {
    title: "three rate limits",
    faults: times(3, limited(1)),
    attempts: 3,
    ends: "rate_limit",
    waits: [1_000, 1_000],
  },
  {
    title: "a rate limit beyond patience",
    faults: [limited(120)],
    attempts: 1,
    ends: "rate_limit",
    waits: [],
  },
  { title: "one 503", faults: [http(503)], attempts: 2, ends: "well", waits: [500] },
  {
    title: "four 502",
    faults: times(4, http(502)),
    attempts: 4,
    ends: "network",
    waits: [500, 1_000, 2_000],
  },
  {
    title: "four errors of Slack's own",
    faults: times(4, refused("internal_error")),
    attempts: 4,
    ends: "network",
  },
  { title: "one reset connection", faults: [{ kind: "reset" }], attempts: 2, ends: "well" },
  { title: "four reset connections", faults: times(4, { kind: "reset" }), attempts: 4, ends: "network" },
  { title: "a lost answer", faults: [{ kind: "lost" }], attempts: 2, ends: "well" },
  {
    title: "an error nobody knows",
    faults: [refused("flux_capacitor")],
    attempts: 1,
    ends: "tool_error",
    says: /flux_capacitor/,
  },
  {
    title: "a page in place of an answer",
    faults: [{ kind: "status", status: 200, body: `<html>${TOKENS.bot}</html>` }],
    attempts: 1,
    ends: "tool_error",
  },
  {
    title: "a redirection",
    faults: times(4, http(302, { location: "https://evil.example/" })),
    attempts: 4,
    ends: "network",
  },
];

/** The clock stands at one minute after 1970 began; waits are kept instead of slept. */
function patience() {
  const waits: number[] = [];
  return {
    waits,
    tool: "t",
    signal: never,
    sleep: async (ms: number) => void waits.push(ms),
    random: () => 1,
  };
}

async function catchFault(work: Promise<unknown>): Promise<"well" | ToolFault> {
  try {
    await work;
    return "well";
  } catch (thrown) {
    if (thrown instanceof ToolFault) return thrown;
    throw thrown;
  }
}

for (const row of ROWS) {
  test(`reading after ${row.title}: ${row.attempts} attempts, ends ${row.ends}`, async () => {
    const slack = workspace.open({ refresh, now: () => 60_000 });
    workspace.proxy.script(HISTORY, ...row.faults);
    const call = patience();
    const read = (signal: AbortSignal) => slack.messages(workspace.ids.alpha, { limit: 10 }, signal);
    const end = await catchFault(callService(slack, read, call));
    expect(end === "well" ? end : end.type).toBe(row.ends);
    if (end !== "well") expect(JSON.stringify([end.message, end.cause, end.stack])).not.toMatch(/xox|hush/);
    if (row.says) expect(end).toMatchObject({ message: expect.stringMatching(row.says) });
    expect(workspace.proxy.seen(HISTORY)).toBe(row.attempts);
    expect(workspace.renewals()).toBe(row.renewals ?? 0);
    if (row.waits) expect(call.waits).toEqual(row.waits);
  });
}

function postOnce(slack: SlackProvider, key = "k".repeat(40)) {
  const { alpha } = workspace.ids;
  return callService(
    slack,
    (signal) => slack.post({ channelId: alpha, text: "the plan", callKey: key }, signal),
    {
      ...patience(),
      write: { lookup: (signal) => slack.findByCallKey({ channelId: alpha, callKey: key }, signal) },
    },
  );
}

const WRITES: readonly (Row & { readonly messages: number })[] = [
  { title: "nothing", faults: [], attempts: 1, ends: "well", messages: 1 },
  { title: "a lost answer", faults: [{ kind: "lost" }], attempts: 1, ends: "well", messages: 1 },
  { title: "a reset connection", faults: [{ kind: "reset" }], attempts: 2, ends: "well", messages: 1 },
  { title: "an expired token", faults: [refused("token_expired")], attempts: 2, ends: "well", messages: 1 },
  { title: "a rate limit", faults: [limited(2)], attempts: 2, ends: "well", messages: 1 },
  { title: "four 503", faults: times(4, http(503)), attempts: 4, ends: "network", messages: 0 },
  {
    title: "an archived channel",
    faults: [refused("is_archived")],
    attempts: 1,
    ends: "permission",
    messages: 0,
  },
  { title: "too long a text", faults: [refused("msg_too_long")], attempts: 1, ends: "params", messages: 0 },
];

for (const row of WRITES) {
  test(`posting after ${row.title}: ${row.attempts} attempts, ${row.messages} in the channel`, async () => {
    const slack = workspace.open({ refresh });
    workspace.proxy.script(POST, ...row.faults);
    const end = await catchFault(postOnce(slack));
    expect(end === "well" ? end : end.type).toBe(row.ends);
    expect(workspace.proxy.seen(POST)).toBe(row.attempts);
    expect(await workspace.texts(workspace.ids.alpha)).toHaveLength(row.messages);
  });
}

test("a server that never answers is given up after the time-out, and asked four times in all", async () => {
  const slack = workspace.open({ timeoutMs: 40 });
  workspace.proxy.script(HISTORY, ...times(4, { kind: "hang" }));
  const read = (signal: AbortSignal) => slack.messages(workspace.ids.alpha, { limit: 1 }, signal);
  const end = await catchFault(callService(slack, read, patience()));
  expect(end).toMatchObject({
    type: "network",
    message: "Slack gave no answer to conversations.history within 0.04 s",
  });
  expect(workspace.proxy.seen(HISTORY)).toBe(4);
});

test("a cancelled call ends at once and is not repeated", async () => {
  const slack = workspace.open({ timeoutMs: 600_000 });
  workspace.proxy.script(HISTORY, { kind: "hang" });
  const stop = new AbortController();
  const reading = slack.messages(workspace.ids.alpha, { limit: 1 }, stop.signal);
  await vi.waitUntil(() => workspace.proxy.seen(HISTORY) === 1);
  stop.abort();
  await expect(reading).rejects.toMatchObject({
    name: "ToolFault",
    message: expect.stringContaining("cancelled"),
  });
  expect(workspace.proxy.seen(HISTORY)).toBe(1);
});

test("an answer without end is not read to its end", async () => {
  const body = { ok: true, messages: [], padding: "x".repeat(33 * 1024 * 1024) };
  workspace.proxy.script(HISTORY, { kind: "status", status: 200, body });
  const end = await catchFault(workspace.open().messages(workspace.ids.alpha, { limit: 1 }, never));
  expect(end).toMatchObject({ type: "tool_error", message: expect.stringContaining("too long") });
});

test("Slack's client prints nothing of its own", async () => {
  workspace.proxy.script(HISTORY, { kind: "reset" });
  await catchFault(workspace.open().messages(workspace.ids.alpha, { limit: 1 }, never));
  for (const name of printed) expect(console[name]).not.toHaveBeenCalled();
});

test("without rotation a refused token asks the person to sign in again, and nothing is repeated", async () => {
  const slack = workspace.open();
  workspace.proxy.script(HISTORY, refused("token_revoked"));
  const read = (signal: AbortSignal) => slack.messages(workspace.ids.alpha, { limit: 1 }, signal);
  const end = await catchFault(callService(slack, read, patience()));
  expect(end).toMatchObject({
    type: "auth",
    message: expect.stringContaining("`retinue accounts add slack`"),
  });
  expect(workspace.proxy.seen(HISTORY)).toBe(1);
  expect(workspace.proxy.seen(RENEWAL)).toBe(0);
});

test("a refresh token that is void asks the person to sign in again and is not in the message", async () => {
  const slack = workspace.open({ refresh: { ...refresh, refreshToken: "xoxe-1-void" } });
  const end = await catchFault(slack.refresh?.(never) ?? Promise.resolve());
  expect(end).toMatchObject({
    type: "auth",
    message: expect.stringContaining("`retinue accounts add slack`"),
  });
  expect(end).toMatchObject({ message: expect.not.stringContaining("xox") });
});

test("several calls that are refused at once renew the token once, and the new one is kept and used", async () => {
  const kept: unknown[] = [];
  const slack = workspace.open({ refresh, now: () => 1_000, onTokens: (tokens) => void kept.push(tokens) });
  await Promise.all([slack.refresh?.(never), slack.refresh?.(never), slack.refresh?.(never)]);
  expect(workspace.proxy.seen(RENEWAL)).toBe(1);
  expect(kept).toEqual([{ token: TOKENS.renewed, refreshToken: "xoxe-1-next-1", expiresAt: 43_201_000 }]);
  await slack.messages(workspace.ids.alpha, { limit: 1 }, never);
  expect(workspace.proxy.requests.at(-1)?.headers.authorization).toBe(`Bearer ${TOKENS.renewed}`);
  await slack.refresh?.(never);
  expect(kept.at(-1)).toMatchObject({ refreshToken: "xoxe-1-next-2" });
});

test("a caller that stops waiting for a renewal does not stop it: the new tokens are kept", async () => {
  const { promise: kept, resolve } = Promise.withResolvers<unknown>();
  const slack = workspace.open({ refresh, onTokens: resolve });
  const stop = new AbortController();
  const waiting = slack.refresh?.(stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining("cancelled") });
  expect(await kept).toMatchObject({ token: TOKENS.renewed });
});

test("new tokens that cannot be kept are a failure that says so", async () => {
  const onTokens = () => Promise.reject(new Error(`disk full while writing ${TOKENS.renewed}`));
  const slack = workspace.open({ refresh, onTokens });
  const end = await catchFault(slack.refresh?.(never) ?? Promise.resolve());
  expect(end).toMatchObject({
    type: "tool_error",
    message: "Slack gave a new token, but it could not be kept",
  });
});

test("tokens do not travel in the clear to another machine", () => {
  const apiUrl = "http://slack.example/api/";
  expect(() => workspace.open({ apiUrl })).toThrow("in the clear");
});
