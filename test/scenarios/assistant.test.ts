import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceProviders } from "@retinue/assistant/accounts/accounts";
import type { Assistant } from "@retinue/assistant/assistant";
import { createAssistantTools } from "@retinue/assistant/assistant-tools";
import { ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import { withBuiltIns } from "@retinue/builtin/create-runtime";
import { loadProject } from "@retinue/builtin/load-project";
import { systemClock } from "@retinue/core/budget/clock";
import type { SubAgentResponse } from "@retinue/core/intent/intent-shapes";
import { readTree } from "@retinue/core/record/read-tree";
import type { ApprovalRequest } from "@retinue/core/run/ports";
import { assembleRuntime } from "@retinue/core/runtime/create-runtime";
import type { MessageNode } from "@retinue/core/schema/record";
import { callTool, say, testRuntime } from "@retinue/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EXAMPLE_NOW, type ExampleAssistant, openExamples } from "../fixtures/example-assistant.ts";

const SIGNAL = new AbortController().signal;
const ACME = ["dana.ortiz@acme.example", "ruth.okafor@acme.example", "sam.whitfield@acme.example"];

let root = "";
let examples: ExampleAssistant;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "retinue-assistant-"));
  examples = await openExamples(root);
});
afterEach(() => {
  examples.close();
  rmSync(root, { recursive: true, force: true });
});

/** Runs a request on the built-in agents with no model; `answer` is the person, if there is one. */
async function ask(request: string, answer?: boolean, agent = "main", assistant = examples.assistant) {
  const asked: ApprovalRequest[] = [];
  const env = { HOME: root, RETINUE_HOME: join(root, "data"), RETINUE_DISCOVER: "0", TZ: "Europe/Berlin" };
  const { registry, settings } = await loadProject({ projectDir: root, env });
  const runtime = assembleRuntime(
    withBuiltIns({
      agents: registry,
      tools: createAssistantTools(assistant),
      settings,
      projectDir: root,
      dataDir: join(root, "data"),
      env,
      ...(answer !== undefined && {
        approve: async (one: ApprovalRequest) => {
          asked.push(one);
          return { allowed: answer, by: "Ada" };
        },
      }),
    }),
    { clock: { ...systemClock, wallMs: () => EXAMPLE_NOW } },
  );
  try {
    const result = await runtime.run({ agent, task: request });
    const [tree] = await readTree(runtime.record, result.session_id);
    return { result, asked, runs: runsIn(tree) };
  } finally {
    await runtime.close();
  }
}

type SeenRun = {
  agent: string;
  response: SubAgentResponse;
  phases: string[];
  opened: number;
  closed: number;
};

/** The runs of domain agents, as the record has them. */
function runsIn(node: MessageNode | undefined): SeenRun[] {
  if (!node) return [];
  const below = node.children.flatMap(runsIn);
  const { data } = JSON.parse(node.metadata_json ?? "{}");
  if (!data?.domain) return below;
  const phases = node.children.map((row) => JSON.parse(row.metadata_json ?? "{}").phase);
  const times = { opened: node.opened_seq, closed: node.closed_seq ?? 0 };
  return [{ agent: node.agent_role ?? "", response: data, phases, ...times }, ...below];
}

test("mail to people outside is sent once a person has seen every address and the text", async () => {
  const request = "Send project update to john@company.com and sarah@client.com";
  const { asked, runs } = await ask(request, true);
  expect(asked).toHaveLength(1);
  for (const shown of ["john@company.com", "sarah@client.com", "Project Update"])
    expect(asked[0]?.presented).toContain(shown);
  expect(asked[0]).toMatchObject({ risk: "high", chain: ["main", "email"] });
  expect(runs).toHaveLength(1);
  expect(new Set(runs[0]?.phases)).toEqual(new Set(["assess", "execute", "format"]));
  expect(runs[0]?.response).toEqual({
    success: true,
    domain: "email",
    request,
    result: {
      data: expect.objectContaining({
        message_id: expect.any(String),
        recipients: ["john@company.com", "sarah@client.com"],
        delivery_status: "queued",
        timestamp: new Date(EXAMPLE_NOW).toISOString(),
      }),
      summary: expect.stringMatching(/2 recipients|2 people|john@company\.com/),
      tools_used: ["gmail_send_email", "gmail_get_delivery_status"],
      execution_time: expect.any(Number),
    },
  });
  const query = { to: "john@company.com", subject: "Project Update", limit: 5 };
  const { total } = await examples.store.mail.search(query, SIGNAL);
  expect(total).toBe(1);
  expect(examples.left).toEqual(["mail john@company.com, sarah@client.com"]);
});

test.each([
  ["says no", false],
  ["is not there", undefined],
])("and nothing is sent when the person %s", async (_, answer) => {
  const { runs, result } = await ask("Send project update to john@company.com and sarah@client.com", answer);
  expect(examples.left).toEqual([]);
  expect(runs[0]?.response).toMatchObject({
    success: false,
    result: { data: null },
    error: { type: "permission", tool: "gmail_send_email", recoverable: false },
  });
  expect(result.details).toMatch(/not done/i);
});

test("a meeting with the team is scheduled after the time was checked", async () => {
  const { asked, runs } = await ask("Schedule a meeting with team next Tuesday 2pm", true);
  expect(asked.map(({ tool }) => tool)).toEqual(["calendar_create_event"]);
  expect(runs[0]?.response).toMatchObject({
    success: true,
    domain: "calendar",
    result: { tools_used: ["calendar_check_availability", "calendar_create_event"] },
  });
  expect(runs[0]?.response.result.data).toMatchObject({
    event_id: expect.any(String),
    title: "Team Meeting",
    datetime: "2026-11-17T14:00:00+01:00",
    attendees: ["priya@retinue.example", "jonas@retinue.example", "mei@retinue.example"],
  });
  const span = {
    from: Date.parse("2026-11-17T12:00:00Z"),
    to: Date.parse("2026-11-17T15:00:00Z"),
    limit: 10,
  };
  const { events } = await examples.store.calendar.list(span, SIGNAL);
  expect(events.filter(({ title }) => title === "Team Meeting")).toMatchObject([
    { start: { at: "2026-11-17T13:00:00.000Z" }, end: { at: "2026-11-17T14:00:00.000Z" } },
  ]);
});

test("people of an organisation are found with what was asked for", async () => {
  const { asked, runs } = await ask("Find contact info for people at Acme Corp");
  expect(asked).toEqual([]);
  expect(runs[0]?.response).toMatchObject({
    success: true,
    domain: "contacts",
    result: { tools_used: ["contacts_search"], data: { total: 3 } },
  });
  const data = runs[0]?.response.result.data as { contacts: { email: string; phone: string }[] };
  const { contacts } = data;
  expect(contacts.map(({ email }) => email).toSorted()).toEqual(ACME);
  for (const { phone } of contacts) expect(phone).toMatch(/\d/);
});

test("a channel's discussions are summarised with decisions, open questions and links", async () => {
  const { runs, result } = await ask("Summarize recent discussions in #project-alpha channel");
  expect(runs[0]?.response).toMatchObject({
    success: true,
    domain: "slack",
    result: { tools_used: ["slack_get_channel_messages", "slack_analyze_conversation"] },
  });
  type Item = { text: string; link: string };
  const data = runs[0]?.response.result.data as { decisions: Item[]; open_questions: Item[] };
  expect(data.decisions.length).toBeGreaterThan(0);
  expect(data.open_questions.length).toBeGreaterThan(0);
  for (const { link } of [...data.decisions, ...data.open_questions]) expect(link).toMatch(/project-alpha/);
  expect(result.details).toMatch(/decision/i);
  expect(result.tainted).toBe(true);
});

test.each(["main", "assistant"])(
  "one request spans four domains: reads at once, then writes with their results, by %s",
  async (agent) => {
    const { asked, runs, result } = await ask(
      "find Acme's people, check Tuesday 2pm, invite them and post it in #project-alpha",
      true,
      agent,
    );
    expect(result.status).toBe("completed");
    expect(runs.every(({ response }) => response.success)).toBe(true);
    const [contacts, check] = runs;
    expect([contacts?.agent, check?.agent]).toEqual(["contacts", "calendar"]);
    expect((check?.opened ?? 0) < (contacts?.closed ?? 0)).toBe(true);
    const writes = runs.slice(2);
    expect(writes.map((run) => run.agent).toSorted()).toEqual(["calendar", "email", "slack"]);
    const readsEnd = Math.max(contacts?.closed ?? 0, check?.closed ?? 0);
    for (const write of writes) expect(write.opened).toBeGreaterThan(readsEnd);
    for (const run of runs) expect(new Set(run.phases)).toEqual(new Set(["assess", "execute", "format"]));
    expect(examples.left.toSorted()).toEqual([
      `event ${ACME.join(", ")}`,
      `mail ${ACME.join(", ")}`,
      "post #project-alpha",
    ]);
    for (const address of ACME)
      expect(asked.filter(({ presented }) => presented?.includes(address)).length).toBe(2);
    for (const word of ["contacts", "calendar", "email", "slack"])
      expect(result.details.toLowerCase()).toContain(word);
  },
);

test("if the time is taken nothing is written, and free times are named", async () => {
  const { runs, result } = await ask(
    "find Acme's people, check Monday 10am, invite them and post it in #project-alpha",
    true,
  );
  expect(examples.left).toEqual([]);
  expect(runs.map(({ agent }) => agent).toSorted()).toEqual(["calendar", "contacts"]);
  expect(result.details).toMatch(/\d\d:\d\d/);
});

const LOST = "the service does not answer";
const fail = async () => {
  throw new ToolFault("tool_error", LOST);
};

/** The example services, whose reads that come after a write fail. */
function withoutLaterReads(assistant: Assistant): Assistant {
  const openAll = async (): Promise<ServiceProviders> => {
    const { list, ...calendar } = await assistant.open("calendar");
    return {
      mail: { ...(await assistant.open("mail")), delivery: fail, search: fail },
      // Before an event is made, it is compared with those at the same time.
      calendar: {
        ...calendar,
        list: (...asked) => (asked[0].query === undefined ? list(...asked) : fail()),
      },
      contacts: await assistant.open("contacts"),
      slack: { ...(await assistant.open("slack")), messages: fail },
    };
  };
  return { ...assistant, open: async (service) => (await openAll())[service] };
}

test.each(["email", "main"])(
  "a mail that was sent is no failure because its delivery cannot be looked up, by %s",
  async (agent) => {
    const request = "Send project update to john@company.com";
    const { runs, result } = await ask(request, true, agent, withoutLaterReads(examples.assistant));
    expect(examples.left).toEqual(["mail john@company.com"]);
    expect(result).toMatchObject({ status: "completed", success: true });
    expect(result.details).toContain(LOST);
    const { success, error, result: given } = runs[0]?.response ?? {};
    expect([success, error]).toEqual([true, undefined]);
    expect(given?.summary).toMatch(/^Done: gmail_send_email \(message_id .+\)\. Sent /);
    if (agent === "email")
      expect(result.warnings.join()).toContain(`'gmail_get_delivery_status' did not succeed: ${LOST}`);
  },
);

test.each([
  ["gmail_send_email", { recipients: ["john@company.com"], subject: "Hi", body: "Hello." }, "message_id"],
  ["gmail_create_draft", { recipients: ["john@company.com"], subject: "Hi", body: "Hello." }, "draft_id"],
  ["gmail_reply_to_message", { message_id: "MESSAGE", body: "Thanks." }, "message_id"],
  ["calendar_create_event", { title: "Lunch", datetime: "2026-11-20T12:00" }, "event_id"],
  ["calendar_update_event", { event_id: "EVENT", title: "Another name" }, "event_id"],
  ["calendar_delete_event", { event_id: "EVENT" }, "event_id"],
  ["slack_post_message", { channel: "#project-alpha", text: "Hello." }, "ts"],
])("what %s did stands although the look after it failed", async (tool, input, name) => {
  const span = { from: Date.parse("2026-11-16T00:00:00Z"), to: Date.parse("2026-11-20T00:00:00Z"), limit: 1 };
  const [event] = (await examples.store.calendar.list(span, SIGNAL)).events;
  const [message] = (await examples.store.mail.search({ to: "me", limit: 1 }, SIGNAL)).messages;
  const given = JSON.stringify(input)
    .replace("EVENT", event?.id ?? "")
    .replace("MESSAGE", message?.id ?? "");
  const [look, query] = tool.startsWith("gmail")
    ? (["gmail_search_messages", { query: "Hi" }] as const)
    : tool.startsWith("calendar")
      ? (["calendar_list_events", { query: "Lunch" }] as const)
      : (["slack_get_channel_messages", { channel: "#project-alpha" }] as const);
  await using t = testRuntime(
    {
      clerk: [
        say(JSON.stringify({ tools: [tool, look], params: {}, sequence: [tool, look] })),
        callTool(tool, JSON.parse(given)),
        callTool(look, query),
        say("The look afterwards failed."),
      ],
    },
    {
      tools: createAssistantTools(withoutLaterReads(examples.assistant)),
      agents: { clerk: { flow: "intent" } },
      approve: async () => ({ allowed: true, by: "Ada" }),
      internals: { clock: { ...systemClock, wallMs: () => EXAMPLE_NOW } },
    },
  );
  const result = await t.runtime.run({ agent: "clerk", task: "Do it and look" });
  expect(result).toMatchObject({ status: "completed", success: true });
  expect(result.warnings.join()).toContain(`'${look}' did not succeed: ${LOST}`);
  expect(result.summary).toMatch(new RegExp(`^Done: ${tool} \\(.*${name} .*The look afterwards failed`));
});
