import { afterEach, beforeEach, expect, test } from "vitest";
import type { MessageClosing, MessageNode, MessageOpening } from "../schema/record.ts";
import { createStore, type Store } from "./create-store.ts";

let store: Store;
beforeEach(() => {
  store = createStore({
    path: ":memory:",
    now: () => 5_000,
    onNotice: (notice) => expect.fail(notice.message),
  });
});
afterEach(() => store.shutdown());

function begin(sessionId = "ses_1", title = "A title"): string {
  store.startSession({ sessionId, title, project: "/project", workspace: "/workspace" });
  return sessionId;
}

function opening(
  sessionId: string,
  parentId: number | null,
  more: Partial<MessageOpening> = {},
): MessageOpening {
  return {
    sessionId,
    parentId,
    runId: "run_1",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1_000,
    ...more,
  };
}

function closing(more: Partial<MessageClosing> = {}): MessageClosing {
  return { status: "completed", completedAtMs: 2_000, durationMs: 1_000, ...more };
}

test("the tree holds every row once, below its parent, however deep", async () => {
  const session = begin();
  let parent: number | null = null;
  for (let index = 0; index < 10_000; index++)
    parent = store.open(opening(session, parent, { runId: `run_${index}` }));
  const aside = store.open(opening(session, null));
  await store.committed();
  const [root, second, ...others] = store.tree(session);
  expect(others).toEqual([]);
  expect(second?.id).toBe(aside);
  let depth = 0;
  for (let node: MessageNode | undefined = root; node; node = node.children[0]) depth++;
  expect(depth).toBe(10_000);
  expect(store.children(root?.id ?? 0).map((row) => row.run_id)).toEqual(["run_1"]);
});

test("runs are the rows of prompts and delegations", async () => {
  const session = begin();
  const root = store.open(opening(session, null));
  const turn = store.open(opening(session, root, { type: "continuation" }));
  store.open(opening(session, turn, { type: "tool_call" }));
  const child = store.open(opening(session, turn, { type: "delegation", runId: "run_2" }));
  await store.committed();
  expect(store.runs(session).map((row) => row.id)).toEqual([root, child]);
});

test("hostile texts come back unchanged from every text column", async () => {
  const session = begin("ses_x", "title \udfff");
  const texts = [
    "\ud800",
    "a\udc00b",
    "nul\0nul",
    "\u0001\\u:x",
    "'; DROP TABLE messages; --",
    "\ufeffbom",
    "\u202e",
    "é".repeat(5_000_000),
  ];
  const ids = texts.map((text) =>
    store.open(
      opening(session, null, { requestContent: text, agentRole: text.slice(0, 9), callId: text.slice(0, 9) }),
    ),
  );
  for (const [index, text] of texts.entries()) {
    const sample = text.slice(0, 50);
    store.close(
      ids[index] ?? 0,
      session,
      closing({ responseContent: text, responseSummary: sample, errorMessage: sample, metadata: { sample } }),
    );
  }
  const prompts = texts.map((text) => store.savePrompt(text));
  await store.committed();
  expect(new Set(prompts).size).toBe(texts.length);
  expect(store.session(session)?.title).toBe("title \udfff");
  for (const [index, text] of texts.entries()) {
    const row = store.message(ids[index] ?? 0);
    expect(row?.request_content === text && row.response_content === text).toBe(true);
    expect(row).toMatchObject({
      response_summary: text.slice(0, 50),
      error_message: text.slice(0, 50),
      agent_role: text.slice(0, 9),
      call_id: text.slice(0, 9),
    });
    expect(JSON.parse(row?.metadata_json ?? "")).toEqual({ sample: text.slice(0, 50) });
    expect(store.prompt(prompts[index] ?? "") === text).toBe(true);
  }
});

test("sessions are listed latest first and found by a unique beginning of their id", async () => {
  begin("ses_aa1", "100% done");
  begin("ses_aa2", "100 things done");
  begin("ses_b", "Other");
  store.updateSession("ses_aa1", { title: "100% Done again", metadata: { k: 1 } });
  store.endSession("ses_b", "completed");
  await store.committed();
  expect(store.sessions().map((row) => row.session_id)).toEqual(["ses_b", "ses_aa1", "ses_aa2"]);
  expect(store.sessions({ limit: 1 })).toHaveLength(1);
  expect(store.session("ses_aa1")).toMatchObject({
    title: "100% Done again",
    status: "running",
    metadata_json: '{"k":1}',
  });
  expect(store.findSession("ses_b")).toMatchObject({ status: "completed", project: "/project" });
  expect(store.findSession("ses_aa1").session_id).toBe("ses_aa1");
  expect(() => store.findSession("ses_a")).toThrow("'ses_a' fits several sessions: ses_aa1, ses_aa2");
  expect(() => store.findSession("zzz")).toThrow("no session 'zzz'; the latest are: ses_b");
  expect(() => begin("ses_b")).toThrow("exists already");
});
