import { afterEach, beforeEach, expect, test } from "vitest";
import type { Approval } from "../schema/record.ts";
import { createStore, type Store } from "./create-store.ts";

let store: Store;
beforeEach(() => {
  store = createStore({ path: ":memory:" });
});
afterEach(() => store.shutdown());

/** Asks about a call of the run `run_1`. */
function ask(callId: string, more: Partial<Omit<Approval, "answer">> = {}): Approval {
  const about = { approvalId: `apr_${callId}`, sessionId: "ses_1", runId: "run_1", callId, tool: "send" };
  return store.addApproval({ ...about, inputHash: "h", request: {}, requestedAtMs: 1, ...more });
}

const allow = (id: string, more: Partial<NonNullable<Approval["answer"]>> = {}) =>
  store.answerApproval(id, { allowed: true, by: "me", atMs: 1, ...more });

const LATER = { runId: "run_1", callId: "later", inputHash: "h" };

test("a yes for the run answers later calls of that run with the same arguments, and no others", () => {
  ask("a");
  expect(store.answerTo(LATER)).toBeNull();
  allow("apr_a", { scope: "run" });
  expect(store.answerTo(LATER)).toMatchObject({ allowed: true, scope: "run" });
  expect(store.answerTo({ ...LATER, inputHash: "other" })).toBeNull();
  expect(store.answerTo({ ...LATER, runId: "run_2" })).toBeNull();
});

test.each([
  ["a yes for once", { scope: "once" as const }],
  ["a yes without a scope", {}],
  ["a no for the run", { allowed: false, scope: "run" as const }],
])("%s answers only its own call", (_, answer) => {
  ask("a");
  allow("apr_a", answer);
  expect(store.answerTo({ ...LATER, callId: "a" })).not.toBeNull();
  expect(store.answerTo(LATER)).toBeNull();
});

test.each(["tainted", "mustConfirm"] as const)(
  "a yes for the run that was given when the call was not yet %s does not hold for one that is",
  (ground) => {
    ask("a");
    allow("apr_a", { scope: "run" });
    expect(store.answerTo({ ...LATER, [ground]: true })).toBeNull();
    expect(store.answerTo({ ...LATER, [ground]: false })).toMatchObject({ allowed: true });
    ask("b", { request: { [ground]: true } });
    allow("apr_b", { scope: "run" });
    expect(store.answerTo({ ...LATER, [ground]: true })).toMatchObject({ allowed: true });
  },
);

test("a call is asked about once, and the first answer stands", () => {
  ask("a");
  expect(ask("a", { approvalId: "apr_again" }).approvalId).toBe("apr_a");
  expect(allow("apr_a", { note: "go on" })).toBe(true);
  expect(allow("apr_a", { allowed: false })).toBe(false);
  expect(store.findApproval("apr_a").answer).toEqual({ allowed: true, by: "me", note: "go on", atMs: 1 });
  expect(store.openApprovalsOf("run_1")).toEqual([]);
});

test("questions are listed in the order they were asked, answers the last first, whatever the clock said", () => {
  const ids = ["a", "b", "c"].map((callId, index) => ask(callId, { requestedAtMs: 9 - index }).approvalId);
  expect(store.approvals().map(({ approvalId }) => approvalId)).toEqual(ids);
  for (const [index, id] of ids.entries()) allow(id, { atMs: 9 - index });
  const latest = ids.toReversed();
  expect(store.answeredApprovals().map(({ approvalId }) => approvalId)).toEqual(latest);
  const after = store.answeredApprovals({ after: "apr_c", limit: 1 });
  expect(after.map(({ approvalId }) => approvalId)).toEqual(["apr_b"]);
  expect(store.approvals({ after: "apr_a" }).map(({ approvalId }) => approvalId)).toEqual(["apr_b", "apr_c"]);
});
