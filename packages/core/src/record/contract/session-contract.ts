import { expect, test } from "vitest";
import type { SessionQuery } from "../../schema/inspect/session-summary.ts";
import { beginSession, closeRow, endSession, makeOpening, openRow, type Stage } from "./contract-stage.ts";

/** What the record promises of sessions. */
export function describeSessions(stage: Stage): void {
  const list = async (query: SessionQuery = {}) =>
    (await stage.record.listSessions(query)).sessions.map((row) => row.session_id);

  test("a session comes back as it was started and changed", async () => {
    const { record, clock } = stage;
    await beginSession(record, "ses_1", { metadata: { k: 1 } });
    const at = "1970-01-01T00:00:05.000Z";
    expect(await record.readSession("ses_1")).toEqual({
      session_id: "ses_1",
      title: "A title",
      project: "/project",
      workspace: "/workspace",
      created_at: at,
      updated_at: at,
      status: "running",
      metadata_json: '{"k":1}',
    });
    clock.nowMs = 6_000;
    const update = { kind: "session.update", sessionId: "ses_1" } as const;
    await record.write({ ...update, change: { title: "Another" } });
    await record.write({ ...update, change: { status: "failed", metadata: { l: 2 } } });
    expect(await record.readSession("ses_1")).toMatchObject({
      ...{ title: "Another", status: "failed", metadata_json: '{"l":2}', created_at: at },
      updated_at: "1970-01-01T00:00:06.000Z",
    });
    await beginSession(record, "ses_2", { status: "pending" });
    expect(await record.readSession("ses_2")).toMatchObject({ status: "pending", metadata_json: null });
    expect(await record.readSession("ses_3")).toBeUndefined();
  });

  test("a session of an id that is there is refused, and the one that is there stays", async () => {
    await beginSession(stage.record);
    await expect(beginSession(stage.record, "ses_1", { title: "x" })).rejects.toThrow("exists already");
    expect(await stage.record.readSession("ses_1")).toMatchObject({ title: "A title" });
  });

  test("sessions are listed by the order of their changes, even if the clock jumps back by hours", async () => {
    const { record, clock } = stage;
    clock.nowMs = Date.UTC(2030, 0, 2);
    for (const sessionId of ["ses_a", "ses_b", "ses_c"]) {
      await beginSession(record, sessionId, { project: sessionId === "ses_c" ? "/q" : "/p" });
      clock.nowMs -= 3 * 3_600_000;
    }
    expect(await list()).toEqual(["ses_c", "ses_b", "ses_a"]);
    const { changed } = await record.readVersion();
    await endSession(record, "ses_a");
    expect(await list()).toEqual(["ses_a", "ses_c", "ses_b"]);
    expect(await list({ project: "/p", limit: 1 })).toEqual(["ses_a"]);
    expect(await list({ status: "running", limit: -1 })).toEqual(["ses_c", "ses_b"]);
    expect(await list({ status: "ended" })).toEqual(["ses_a"]);
    expect(await list({ afterChange: changed })).toEqual(["ses_a"]);
    expect(await list({ sinceMs: Date.UTC(2030, 0, 1, 21) })).toEqual(["ses_c", "ses_b"].slice(1));
    expect(await list({ untilMs: Date.UTC(2030, 0, 1, 21) })).toEqual(["ses_a", "ses_c"]);
  });

  test("the version rises with each change of a session, and tells what other processes wrote", async () => {
    const { record } = stage;
    const empty = await record.readVersion();
    await beginSession(record);
    const begun = await record.readVersion();
    expect(begun.changed).toBeGreaterThan(empty.changed);
    if (!stage.isShared) return;
    const other = stage.openAnother();
    await openRow(other);
    const later = await record.readVersion();
    expect(later.changed).toBe(begun.changed);
    expect(later.others).not.toBe(begun.others);
    expect(await record.readVersion()).toEqual(later);
  });

  test("a session is found by a unique beginning of its id, and an error names what there is", async () => {
    const { record } = stage;
    await expect(record.findSession("ses")).rejects.toThrow("there are none yet");
    for (const id of ["ses_aa", "ses_aa1", "ses_b%"]) await beginSession(record, id);
    expect((await record.findSession("ses_b")).session_id).toBe("ses_b%");
    expect((await record.findSession("ses_aa")).session_id).toBe("ses_aa");
    await expect(record.findSession("ses_a")).rejects.toThrow(
      "'ses_a' fits several sessions: ses_aa, ses_aa1",
    );
    for (const prefix of ["zzz", "%", "ses__", ""])
      await expect(record.findSession(prefix)).rejects.toThrow(
        `no session '${prefix}'; the latest are: ses_b%`,
      );
  });

  test("every word of a search is in title, project, id, a task or an answer, and is only a text", async () => {
    const { record } = stage;
    await beginSession(record, "ses_one", { title: "100% done", project: "/shop" });
    await beginSession(record, "ses_two", { title: "100 things", project: "/other" });
    const root = await openRow(record, { sessionId: "ses_one", requestContent: "find Über things" });
    const child = await openRow(record, {
      ...{ sessionId: "ses_one", runId: "run_2", parentId: root, type: "delegation", agentRole: "scout" },
    });
    await closeRow(record, child, { responseContent: `${"x ".repeat(300)}the needle is here` }, "ses_one");
    const find = (search: string) => list({ search });
    expect(await find("")).toEqual(["ses_two", "ses_one"]);
    expect(await find("things")).toEqual(["ses_two", "ses_one"]);
    expect(await find("done needle")).toEqual(["ses_one"]);
    expect(await find("needle other")).toEqual([]);
    expect(await find("über")).toEqual(["ses_one"]);
    expect(await find('"needle is"')).toEqual(["ses_one"]);
    expect(await find('"is needle"')).toEqual([]);
    expect(await find("SES_TWO")).toEqual(["ses_two"]);
    expect(await find("0%")).toEqual(["ses_one"]);
    expect(await find("1_0")).toEqual([]);
    expect(await list({ search: "things", project: "/shop" })).toEqual(["ses_one"]);
    for (const text of ["'; DROP TABLE sessions; --", '"', '""', "\\", "* OR x", "\u0000"]) await find(text);
    expect(await list()).toHaveLength(2);
    const { sessions, searchedOnly } = await record.listSessions({ search: "needle" });
    expect(searchedOnly).toBeUndefined();
    expect(sessions).toMatchObject([{ found: { agent: "scout", in: "answer" } }]);
    expect(sessions[0]?.found?.excerpt).toMatch(/^….*the needle is here$/);
    expect((await record.listSessions({ search: "100%" })).sessions[0]).not.toHaveProperty("found");
  });

  test("figures of a session come from its runs; tasks at once count their time once", async () => {
    const { record } = stage;
    await beginSession(record);
    const first = await openRow(record, { startedAtMs: 0 });
    const turn = await openRow(record, { parentId: first, type: "continuation" });
    await closeRow(record, turn, { totalTokens: 7, costUsd: 7 });
    const child = await openRow(record, {
      ...{ parentId: turn, type: "delegation", runId: "run_2", agentRole: "scout", depth: 1 },
    });
    await closeRow(record, child, { totalTokens: 5, costUsd: 0.5 });
    await closeRow(record, first, { totalTokens: 10, costUsd: 1, durationMs: 1_000 });
    const second = await openRow(record, makeOpening({ startedAtMs: 500, runId: "run_3" }));
    expect(await record.readFigures("ses_1")).toEqual({
      ...{ agent: "main", runs: 3, agents: 2, depth: 1, tokens: 15, cost_usd: 1.5, duration_ms: 1_000 },
    });
    await closeRow(record, second, { durationMs: 1_000, costUsd: null });
    expect(await record.readFigures("ses_1")).toMatchObject({ cost_usd: null, duration_ms: 1_500 });
    expect(await record.readFigures("ses_2")).toEqual({
      ...{ agent: null, runs: 0, agents: 0, depth: 0, tokens: 0, cost_usd: 0, duration_ms: 0 },
    });
  });
}
