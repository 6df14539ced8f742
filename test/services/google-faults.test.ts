import { type Google, openGoogle } from "@retinue/assistant/google/open-google";
import type { OutgoingMail } from "@retinue/assistant/mail/mail-provider";
import { callService } from "@retinue/assistant/service-tools/call-service";
import { type FaultType, ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "./fault-proxy.ts";
import { type EmulatedGoogle, OWNER, startGoogle } from "./google-emulators.ts";

const PROFILE = "GET /gmail/v1/users/me/profile";
const TOKEN = "POST /oauth2/token";
const SEND = "POST /gmail/v1/users/me/messages/send";
const signal = new AbortController().signal;

let google: EmulatedGoogle;
beforeAll(async () => {
  google = await startGoogle();
});
afterEach(() => google.proxy.clear());
afterAll(() => google.close());

const status = (code: number, reason = "some", headers: Record<string, string> = {}): Fault => ({
  kind: "status",
  status: code,
  headers,
  body: { error: { code, message: `${reason} for ya29.leaked-token`, errors: [{ reason }] } },
});
const times = (count: number, fault: Fault): Fault[] => new Array<Fault>(count).fill(fault);

/** Asks for the owner under the error policy: one plain request. Gives the waits that it would have made. */
async function ask({ mail }: Google): Promise<{ address?: string; fault?: ToolFault; waits: number[] }> {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  try {
    const options = { tool: "a_tool", signal, sleep, random: () => 1 };
    const { address } = await callService(mail, (inner) => mail.self(inner), options);
    return { address, waits };
  } catch (thrown) {
    if (thrown instanceof ToolFault) return { fault: thrown, waits };
    throw thrown;
  }
}

const withoutAddress = (timeoutMs = 30_000) => google.open({ address: undefined, timeoutMs });

type Row = {
  readonly title: string;
  readonly faults: readonly Fault[];
  /** How often the client asked; the rest was answered by the server itself. */
  readonly attempts: number;
  readonly tokenRequests?: number;
  readonly fault?: FaultType;
  readonly waits?: readonly number[];
  readonly timeoutMs?: number;
};

const rows: readonly Row[] = [
  { title: "no fault", faults: [], attempts: 1 },
  { title: "401, then success", faults: [status(401)], attempts: 2, tokenRequests: 1 },
  { title: "401 twice", faults: times(2, status(401)), attempts: 2, tokenRequests: 1, fault: "auth" },
  { title: "403", faults: [status(403, "forbidden")], attempts: 1, fault: "permission" },
  {
    title: "403 because a scope is missing",
    faults: [status(403, "insufficientPermissions")],
    attempts: 1,
    fault: "permission",
  },
  {
    title: "403 that is a rate limit",
    faults: [status(403, "userRateLimitExceeded")],
    attempts: 2,
    waits: [1_000],
  },
  { title: "403 that is a quota", faults: [status(403, "quotaExceeded")], attempts: 2, waits: [1_000] },
  {
    title: "429 with Retry-After",
    faults: [status(429, "rate", { "retry-after": "7" })],
    attempts: 2,
    waits: [7_000],
  },
  {
    title: "429 three times",
    faults: times(3, status(429, "rate", { "retry-after": "2" })),
    attempts: 3,
    fault: "rate_limit",
    waits: [2_000, 2_000],
  },
  {
    title: "429 that wants too long a wait",
    faults: [status(429, "rate", { "retry-after": "3600" })],
    attempts: 1,
    fault: "rate_limit",
  },
  { title: "503, then success", faults: [status(503)], attempts: 2, waits: [500] },
  {
    title: "5xx four times",
    faults: [status(500), status(502), status(503), status(504)],
    attempts: 4,
    fault: "network",
    waits: [500, 1_000, 2_000],
  },
  { title: "a reset, then success", faults: [{ kind: "reset" }], attempts: 2, waits: [500] },
  {
    title: "four resets",
    faults: times(4, { kind: "reset" }),
    attempts: 4,
    fault: "network",
    waits: [500, 1_000, 2_000],
  },
  {
    title: "no answer within the time for a request",
    faults: times(4, { kind: "hang" }),
    attempts: 4,
    fault: "network",
    waits: [500, 1_000, 2_000],
    timeoutMs: 40,
  },
  { title: "400", faults: [status(400, "badRequest")], attempts: 1, fault: "params" },
  { title: "404", faults: [status(404, "notFound")], attempts: 1, fault: "params" },
  { title: "409", faults: [status(409, "duplicate")], attempts: 1, fault: "params" },
  { title: "412", faults: [status(412, "conditionNotMet")], attempts: 1, fault: "params" },
  { title: "a status that is not expected", faults: [status(418)], attempts: 1, fault: "tool_error" },
];

describe("a request to Google that meets", () => {
  for (const row of rows) {
    test(`${row.title}: ${row.attempts} attempt(s), ${row.fault ?? "answered"}`, async () => {
      google.proxy.script(PROFILE, ...row.faults);
      const { address, fault, waits } = await ask(withoutAddress(row.timeoutMs));
      expect({ address, type: fault?.type, waits }).toEqual({
        address: row.fault ? undefined : OWNER,
        type: row.fault,
        waits: row.waits ?? [],
      });
      expect(google.proxy.seen(PROFILE)).toBe(row.attempts);
      expect(google.proxy.served(PROFILE)).toBe(row.fault ? 0 : 1);
      expect(google.proxy.seen(TOKEN)).toBe(row.tokenRequests ?? 0);
      expect(fault?.message ?? "").not.toMatch(/ya29|valid-access-token|client-secret-value/);
    });
  }
});

test("every service maps its own faults the same way", async () => {
  const { calendar, contacts } = google.open();
  google.proxy.script("GET /calendar/*", status(403, "rateLimitExceeded", { "retry-after": "3" }));
  google.proxy.script("GET /v1/people/*", status(401));
  await expect(calendar.get("abcde", signal)).rejects.toMatchObject({
    type: "rate_limit",
    retryAfterMs: 3_000,
  });
  await expect(contacts.search({ limit: 1 }, signal)).rejects.toMatchObject({ type: "auth" });
  expect(google.proxy.requests).toHaveLength(2);
});

test("a server that is not there is a network fault", async () => {
  const unused = "http://127.0.0.1:1";
  const { mail } = google.open({ address: undefined, rootUrl: unused });
  await expect(mail.self(signal)).rejects.toMatchObject({ type: "network" });
});

test("a token that the server really refuses is renewed and kept for the next time", async () => {
  const kept: unknown[] = [];
  const credentials = { ...google.credentials, accessToken: "stale-token", expiryDate: undefined };
  const account = google.open({
    address: undefined,
    credentials,
    onTokens: (tokens) => void kept.push(tokens),
  });
  const found = await callService(account.mail, (inner) => account.mail.search({ limit: 1 }, inner), {
    tool: "a_tool",
    signal,
  });
  expect(found.total).toBe(0);
  expect(kept).toEqual([
    {
      accessToken: expect.stringMatching(/^google_/),
      refreshToken: credentials.refreshToken,
      expiryDate: expect.any(Number),
    },
  ]);
});

test("without an access token, or with one that has ended, one is got before the first request", async () => {
  for (const credentials of [
    { ...google.credentials, accessToken: undefined },
    { ...google.credentials, expiryDate: Date.now() },
  ]) {
    google.proxy.clear();
    const { mail } = google.open({ address: undefined, credentials });
    await expect(mail.self(signal)).resolves.toEqual({ address: OWNER });
    expect([google.proxy.seen(TOKEN), google.proxy.seen(PROFILE)]).toEqual([1, 1]);
  }
});

test("calls at the same time share one request for a token", async () => {
  const credentials = { ...google.credentials, accessToken: undefined };
  const { mail, contacts } = google.open({ address: undefined, credentials });
  await Promise.all([mail.self(signal), contacts.organizations(signal), mail.refresh?.(signal)]);
  expect(google.proxy.seen(TOKEN)).toBe(1);
});

test("a sign-in that has ended says which command renews it", async () => {
  const credentials = { ...google.credentials, refreshToken: "withdrawn-refresh-token" };
  google.proxy.script(PROFILE, status(401));
  const { fault } = await ask(google.open({ address: undefined, credentials }));
  expect(fault).toMatchObject({
    type: "auth",
    message: expect.stringContaining("retinue accounts add google"),
  });
  expect(fault?.message).not.toContain("withdrawn-refresh-token");
  expect([google.proxy.seen(TOKEN), google.proxy.seen(PROFILE)]).toEqual([1, 1]);
});

test("the token server's own failures are told apart and not repeated by the client", async () => {
  const { mail } = google.open();
  google.proxy.script(TOKEN, status(503), status(429, "rate", { "retry-after": "5" }), { kind: "reset" });
  await expect(mail.refresh?.(signal)).rejects.toMatchObject({ type: "network" });
  await expect(mail.refresh?.(signal)).rejects.toMatchObject({ type: "rate_limit", retryAfterMs: 5_000 });
  await expect(mail.refresh?.(signal)).rejects.toMatchObject({ type: "network" });
  expect(google.proxy.seen(TOKEN)).toBe(3);
});

test("a caller that gives up ends the request", async () => {
  const giveUp = new AbortController();
  google.proxy.script(PROFILE, { kind: "hang" });
  const asked = withoutAddress().mail.self(giveUp.signal);
  giveUp.abort();
  await expect(asked).rejects.toMatchObject({ name: "ToolFault", recoverable: false });
});

test("tokens go to https or this machine only", () => {
  const open = (rootUrl: string) => openGoogle({ credentials: google.credentials, rootUrl, zone: "UTC" });
  expect(() => open("http://gmail.example")).toThrow("in the clear");
  expect(() => open("http://127.0.0.1.evil.example")).toThrow("in the clear");
  expect(() => open("https://gmail.example")).not.toThrow();
});

describe("a message whose sending is interrupted", () => {
  const buildMail = (name: string): OutgoingMail => ({
    messageId: `<retinue-${name}@retinue.example>`,
    to: ["dana.ortiz@acme.example"],
    cc: [],
    bcc: [],
    subject: "Once",
    text: "Only once.",
  });

  async function send(mail: OutgoingMail) {
    const { mail: box } = google.open();
    return await callService(box, (inner) => box.send(mail, inner), {
      tool: "gmail_send_email",
      signal,
      sleep: async () => undefined,
      write: { lookup: (inner) => box.findByMessageId(mail.messageId, "sent", inner) },
    });
  }

  test("is found again and not sent twice if only the answer was lost", async () => {
    google.proxy.script(SEND, { kind: "lost" });
    const sent = await send(buildMail("lost"));
    expect(sent.delivery).toMatchObject({
      status: "sent",
      recipients: [{ address: "dana.ortiz@acme.example" }],
    });
    expect([google.proxy.seen(SEND), google.proxy.served(SEND)]).toEqual([1, 1]);
  });

  test("is sent again if it never arrived", async () => {
    google.proxy.script(SEND, { kind: "reset" });
    await send(buildMail("reset"));
    expect([google.proxy.seen(SEND), google.proxy.served(SEND)]).toEqual([2, 1]);
  });

  test("is found among the newest if the index does not have it yet", async () => {
    google.proxy.script(SEND, { kind: "lost" });
    google.proxy.script("GET /gmail/v1/users/me/messages", { kind: "status", status: 200, body: {} });
    await send(buildMail("index"));
    expect(google.proxy.served(SEND)).toBe(1);
  });
});

test("an event whose answer was lost is found by its id and made once", async () => {
  const { calendar } = google.open();
  const moment = (hour: number) =>
    ({ kind: "instant", at: `2026-11-17T${hour}:00:00.000Z`, zone: "Europe/Berlin" }) as const;
  const event = {
    id: "c0ffee",
    title: "Once",
    start: moment(10),
    end: moment(11),
    attendees: [],
    notify: true,
  };
  google.proxy.script("POST /calendar/*", { kind: "lost" });
  const made = await callService(calendar, (inner) => calendar.create(event, inner), {
    tool: "calendar_create_event",
    signal,
    sleep: async () => undefined,
    write: { lookup: (inner) => calendar.get(event.id, inner) },
  });
  expect(made).toMatchObject({ id: "c0ffee", title: "Once" });
  expect(google.proxy.seen("POST /calendar/*")).toBe(1);
});
