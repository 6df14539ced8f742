import { expect, test } from "vitest";
import type { Approval } from "../../schema/record.ts";
import type { ApprovalQuery } from "../record.ts";
import { beginSession, endSession, type Stage } from "./contract-stage.ts";

const LATER = { runId: "run_1", callId: "later", inputHash: "h" };

/** What the record promises of questions to a person. */
export function describeApprovals(stage: Stage): void {
  /** Asks about a call of the run `run_1`. */
  function ask(callId: string, more: Partial<Omit<Approval, "answer">> = {}): Promise<Approval> {
    const about = { approvalId: `apr_${callId}`, sessionId: "ses_1", runId: "run_1", callId, tool: "send" };
    return stage.record.addApproval({ ...about, inputHash: "h", request: {}, requestedAtMs: 1, ...more });
  }
  const allow = (id: string, more: Partial<NonNullable<Approval["answer"]>> = {}) =>
    stage.record.answerApproval(id, { allowed: true, by: "me", atMs: 1, ...more });
  const list = async (query?: ApprovalQuery) =>
    (await stage.record.listApprovals(query)).map(({ approvalId }) => approvalId);

  test("a question and its answer come back as they were given", async () => {
    const request = JSON.parse('{"input":"nul\\u0000 \\ud800","__proto__":1}');
    const asked = await ask("a", { tool: "send \udfff", request, requestedAtMs: 7 });
    const expected = {
      ...{ approvalId: "apr_a", sessionId: "ses_1", runId: "run_1", callId: "a", inputHash: "h" },
      ...{ tool: "send \udfff", requestedAtMs: 7, answer: null },
    };
    expect(asked).toMatchObject(expected);
    expect(JSON.stringify(asked.request)).toBe(JSON.stringify(request));
    const answer = { allowed: false, by: "me \ud800", note: "no\0", scope: "once", atMs: 9 } as const;
    await stage.record.answerApproval("apr_a", answer);
    expect(await stage.record.findApproval("apr_a")).toEqual({ ...asked, answer });
  });

  test("a yes for the run answers later calls of that run with the same arguments, and no others", async () => {
    const { record } = stage;
    await ask("a");
    expect(await record.findAnswer(LATER)).toBeNull();
    await allow("apr_a", { scope: "run" });
    expect(await record.findAnswer(LATER)).toMatchObject({ allowed: true, scope: "run" });
    expect(await record.findAnswer({ ...LATER, inputHash: "other" })).toBeNull();
    expect(await record.findAnswer({ ...LATER, runId: "run_2" })).toBeNull();
  });

  test.each([
    ["a yes for once", { scope: "once" as const }],
    ["a yes without a scope", {}],
    ["a no for the run", { allowed: false, scope: "run" as const }],
  ])("%s answers only its own call", async (_, answer) => {
    await ask("a");
    await allow("apr_a", answer);
    expect(await stage.record.findAnswer({ ...LATER, callId: "a" })).not.toBeNull();
    expect(await stage.record.findAnswer(LATER)).toBeNull();
  });

  test.each(["tainted", "mustConfirm"] as const)(
    "a yes for the run that was given when the call was not yet %s does not hold for one that is",
    async (ground) => {
      const { record } = stage;
      await ask("a");
      await allow("apr_a", { scope: "run" });
      expect(await record.findAnswer({ ...LATER, [ground]: true })).toBeNull();
      expect(await record.findAnswer({ ...LATER, [ground]: false })).toMatchObject({ allowed: true });
      await ask("b", { request: { [ground]: true } });
      await allow("apr_b", { scope: "run" });
      expect(await record.findAnswer({ ...LATER, [ground]: true })).toMatchObject({ allowed: true });
    },
  );

  test("a call is asked about once, and the first answer stays, no matter who gives another", async () => {
    const { record } = stage;
    await ask("a");
    expect((await ask("a", { approvalId: "apr_again" })).approvalId).toBe("apr_a");
    expect(await allow("apr_a", { note: "go on" })).toBe(true);
    const late = stage.isShared ? stage.openAnother() : record;
    expect(await late.answerApproval("apr_a", { allowed: false, by: "you", atMs: 2 })).toBe(false);
    expect(await allow("apr_none")).toBe(false);
    expect((await record.findApproval("apr_a")).answer).toEqual({
      ...{ allowed: true, by: "me", note: "go on", atMs: 1 },
    });
    expect((await ask("a", { approvalId: "apr_again" })).answer).toMatchObject({ allowed: true });
  });

  test("questions are listed in the order they were asked, answers the last first, whatever the clock said", async () => {
    const ids: string[] = [];
    for (const [index, callId] of ["a", "b", "c"].entries())
      ids.push((await ask(callId, { requestedAtMs: 9 - index })).approvalId);
    expect(await list()).toEqual(ids);
    expect(await list({ state: "waiting", after: "apr_a", limit: 1 })).toEqual(["apr_b"]);
    for (const [index, id] of ids.entries()) await allow(id, { atMs: 9 - index });
    expect(await list({ state: "waiting" })).toEqual([]);
    expect(await list({ state: "answered" })).toEqual(ids.toReversed());
    expect(await list({ state: "answered", after: "apr_c", limit: 1 })).toEqual(["apr_b"]);
    expect(await list({ after: "apr_a" })).toEqual(["apr_b", "apr_c"]);
  });

  test("questions are narrowed by session, run and project; of a project only open sessions have any that wait", async () => {
    const { record } = stage;
    await beginSession(record, "ses_1", { project: "/p" });
    await beginSession(record, "ses_2", { project: "/p\ud800" });
    await ask("a");
    await ask("b", { runId: "run_2" });
    await ask("c", { sessionId: "ses_2", runId: "run_3" });
    await ask("d");
    await allow("apr_d");
    expect(await list({ sessionId: "ses_1" })).toEqual(["apr_a", "apr_b", "apr_d"]);
    expect(await list({ project: "/p\ud800" })).toEqual(["apr_c"]);
    expect(await list({ runId: "run_1" })).toEqual(["apr_a", "apr_d"]);
    expect(await list({ runId: "run_1", state: "waiting" })).toEqual(["apr_a"]);
    expect(await list({ runId: "run_1", state: "answered" })).toEqual(["apr_d"]);
    expect(await list({ project: "/p", state: "waiting" })).toEqual(["apr_a", "apr_b"]);
    const count = async () => (await record.countWaiting({ project: "/p" })).count;
    const { newest, ...waiting } = await record.countWaiting({ sessionId: "ses_1" });
    expect(waiting).toEqual({ count: 2 });
    expect((await record.countWaiting({})).count).toBe(3);
    expect((await record.countWaiting({})).newest).toBeGreaterThan(newest);
    expect(await count()).toBe(2);
    await endSession(record);
    expect(await list({ project: "/p", state: "waiting" })).toEqual([]);
    expect(await list({ sessionId: "ses_1", state: "waiting" })).toEqual(["apr_a", "apr_b"]);
    expect(await list({ project: "/p" })).toEqual(["apr_a", "apr_b", "apr_d"]);
    expect(await count()).toBe(0);
  });

  test("a question is found by a unique beginning of its id, and an error names what waits", async () => {
    const { record } = stage;
    await expect(record.findApproval("apr")).rejects.toThrow("nothing waits for one");
    for (const callId of ["aa", "aa1", "b"]) await ask(callId);
    expect((await record.findApproval("apr_b")).callId).toBe("b");
    expect((await record.findApproval("apr_aa")).callId).toBe("aa");
    await expect(record.findApproval("apr_a")).rejects.toThrow(
      "'apr_a' fits several approvals: apr_aa, apr_aa1",
    );
    for (const prefix of ["x", "apr%", ""])
      await expect(record.findApproval(prefix)).rejects.toThrow("waiting: apr_aa, apr_aa1, apr_b");
  });
}
