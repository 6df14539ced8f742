import { spawn } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import type { Record } from "@retinue/core/record/record";
import { createRecordJournal } from "@retinue/core/record/record-journal";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { Journal } from "@retinue/core/schema/record";
import { after, callTool, hang, say } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test, vi } from "vitest";
import { Lives } from "../fixtures/lives.ts";

const RECORD = JSON.stringify(
  new URL("../../packages/core/src/record/sqlite/create-sqlite-record.ts", import.meta.url).href,
);

const JOURNAL = JSON.stringify(
  new URL("../../packages/core/src/record/record-journal.ts", import.meta.url).href,
);

/** Another process with a session, which writes a row when it is woken and says what came of it. */
const ZOMBIE = `
import { createSqliteRecord } from ${RECORD};
import { createRecordJournal } from ${JOURNAL};
const record = createSqliteRecord({ path: process.argv[1] });
await record.startSession({ sessionId: "ses_1", title: "", project: "", workspace: "" });
await record.takeLease("ses_1", () => console.log("lost"));
const journal = await createRecordJournal(record);
const write = (runId) => journal.open({ sessionId: "ses_1", parentId: null, runId, type: "prompt", agentRole: "x",
  depth: 0, startedAtMs: 0 }, () => console.log("written " + runId));
write("run_before");
await record.committed();
process.on("SIGCONT", async () => {
  write("run_after");
  record.append({ kind: "session.update", sessionId: "ses_1", change: { status: "failed" } });
  await record.committed();
  await record.close();
  process.exit();
});
setInterval(() => {}, 1000);
console.log("ready");
`;

function row(journal: Journal, sessionId: string, runId: string, onCommit?: () => void): number {
  const about = { parentId: null, type: "prompt" as const, agentRole: "x", depth: 0, startedAtMs: 0 };
  return journal.open({ ...about, sessionId, runId }, onCommit);
}

const runsIn = async (record: Record, sessionId: string) =>
  (await record.readRows({ sessionId: sessionId })).map((each) => each.run_id);

test("a process that stood still longer than its lease writes nothing more to a session that another has taken", async () => {
  using lives = new Lives();
  await createSqliteRecord({ path: lives.database }).close();
  const zombie = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", ZOMBIE, lives.database],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  const ready = Promise.withResolvers<void>();
  zombie.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.includes("ready")) ready.resolve();
  });
  await ready.promise;
  zombie.kill("SIGSTOP");
  const early = createSqliteRecord({ path: lives.database });
  await expect(early.takeLease("ses_1")).rejects.toThrow(`process ${zombie.pid}`);
  await early.close();
  const record = createSqliteRecord({ path: lives.database });
  await takeOver(lives.database, "ses_1", record);
  row(await createRecordJournal(record), "ses_1", "run_taken_over");
  await record.committed();
  const gone = new Promise((resolve) => zombie.once("close", resolve));
  zombie.kill("SIGCONT");
  await gone;
  expect(output.split("\n")).toContain("lost");
  expect(output).not.toContain("written run_after");
  expect(await runsIn(record, "ses_1")).toEqual(["run_before", "run_taken_over"]);
  expect((await record.readSession("ses_1"))?.status).toBe("running");
  await record.close();
});

/** What another machine does that has heard nothing of the holder for too long. */
async function takeOver(database: string, sessionId: string, record: Record): Promise<void> {
  using db = new DatabaseSync(database);
  db.prepare("DELETE FROM leases WHERE session_id = ?").run(sessionId);
  await record.takeLease(sessionId);
}

test("a lost session takes no other session's rows with it, and its own are not said to be written", async () => {
  using lives = new Lives();
  const record = createSqliteRecord({ path: lives.database });
  for (const sessionId of ["ses_1", "ses_2"]) {
    await record.startSession({ sessionId, title: "", project: "", workspace: "" });
    await record.takeLease(sessionId);
  }
  await record.committed();
  const other = createSqliteRecord({ path: lives.database });
  await other.takeLease("ses_1");
  const journal = await createRecordJournal(record);
  const written: string[] = [];
  for (const sessionId of ["ses_1", "ses_2"])
    row(journal, sessionId, `run_${sessionId}`, () => written.push(sessionId));
  await record.committed();
  expect(written).toEqual(["ses_2"]);
  expect(await runsIn(other, "ses_1")).toEqual([]);
  expect(await runsIn(other, "ses_2")).toEqual(["run_ses_2"]);
  journal.close(row(journal, "ses_1", "run_late"), "ses_1", {
    status: "completed",
    completedAtMs: 0,
    durationMs: 0,
  });
  await record.committed();
  expect(await runsIn(other, "ses_1")).toEqual([]);
  await record.close();
  await other.close();
});

test("a loss is noticed at the next renewal, also by a process that writes nothing", async () => {
  using lives = new Lives();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const record = createSqliteRecord({ path: lives.database });
    const lost: string[] = [];
    for (const sessionId of ["ses_1", "ses_2"]) await record.takeLease(sessionId, () => lost.push(sessionId));
    vi.advanceTimersByTime(60_000);
    await Promise.resolve();
    expect(lost).toEqual([]);
    const other = createSqliteRecord({ path: lives.database });
    (await other.takeLease("ses_1"))();
    vi.advanceTimersByTime(5_000);
    await Promise.resolve();
    expect(lost).toEqual(["ses_1"]);
    await record.close();
    await other.close();
  } finally {
    vi.useRealTimers();
  }
});

test("a run whose session was taken over ends with an error that says so, does nothing more and writes nothing more", async () => {
  using lives = new Lives();
  const paid: string[] = [];
  const gate = Promise.withResolvers<string>();
  let waiting = false;
  const pay = (who: string) =>
    defineTool<object>({
      name: "pay",
      description: "x",
      input: { type: "object" },
      replay: "never",
      execute: async () => `${paid.push(who)}`,
    });
  const wait = (answer: Promise<string>) =>
    defineTool<object>({
      name: "wait",
      description: "x",
      input: { type: "object" },
      replay: "safe",
      execute: () => {
        waiting = true;
        return answer;
      },
    });
  const first = lives.open(
    { lead: [callTool("wait", {}), callTool("pay", {}), say("the old one")] },
    { tools: [pay("old"), wait(gate.promise)] },
  );
  const { sessionId, result } = await first.runtime.start({ agent: "lead", task: "the task" });
  await lives.leave(first, () => waiting);
  const second = lives.open(
    { lead: [callTool("pay", {}), say("the new one")] },
    { tools: [pay("new"), wait(Promise.resolve("waited"))] },
  );
  const resumed = await second.runtime.resume(sessionId);
  gate.resolve("late");
  const lost = await result;
  expect(lost).toMatchObject({ status: "failed", success: false, error: { type: "failed" } });
  expect(lost.error?.message).toContain(`another process took session ${sessionId} over`);
  expect(await resumed.result).toMatchObject({ status: "completed", details: "the new one" });
  expect(paid).toEqual(["new"]);
  await first.runtime.close();
  const rows = await second.runtime.record.readRows({ sessionId: sessionId });
  expect(rows.filter((each) => each.closed_seq === null)).toEqual([]);
  expect(rows.some((each) => each.response_content === "late")).toBe(false);
  const seqs = rows.flatMap((each) => [each.opened_seq, each.closed_seq]);
  expect(new Set(seqs).size).toBe(seqs.length);
  expect((await second.runtime.record.readSession(sessionId))?.status).toBe("completed");
  expect(first.events).toContainEqual(expect.objectContaining({ type: "notice.raised", level: "error" }));
  await second.close();
});

test("what is about to begin in a session that was stopped does not begin, and its row is closed", async () => {
  using lives = new Lives();
  const first = lives.open(
    { worker: (request) => (request.task === "a" ? hang() : callTool("act", {})) },
    { tools: [act(null)] },
  );
  void first.runtime.fanOut(["a", "b"].map((task) => ["worker", task] as const));
  const acted = () => first.events.some((event) => event.type === "call.started");
  await lives.leave(first, acted);
  const sessionId = (await first.runtime.record.listSessions()).sessions[0]?.session_id ?? "";
  const ran: string[] = [];
  const second = lives.open({ worker: [] }, { tools: [act(ran)] });
  const { results } = await second.runtime.resume(sessionId);
  second.runtime.cancel(sessionId);
  expect((await results).map((result) => result.status)).toEqual(["cancelled", "cancelled"]);
  expect(ran).toEqual([]);
  expect(second.models.worker?.requests).toHaveLength(0);
  expect(
    (await second.runtime.record.readRows({ sessionId: sessionId })).filter(
      (each) => each.closed_seq === null,
    ),
  ).toEqual([]);
  await second.close();
});

test("a run that is stopped while its folders are made takes no turn", async () => {
  using lives = new Lives();
  const t = lives.open({ lead: [say("done")] }, { agents: { lead: { workspace: "isolated" } } });
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "x" });
  t.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ status: "cancelled" });
  expect(t.models.lead?.requests).toHaveLength(0);
  await t.close();
});

test("a command that checks a deliverable is not run for a session that was lost", async () => {
  using lives = new Lives();
  const ran: string[] = [];
  const shell = defineTool<object>({
    name: "shell",
    description: "x",
    input: { type: "object" },
    replay: "never",
    execute: async () => `${ran.push("shell")}`,
  });
  const gate = Promise.withResolvers<void>();
  const agents = { lead: { deliverables: [{ command: "true" }] } };
  const t = lives.open({ lead: [after(gate.promise, say("done"))] }, { agents, tools: [shell] });
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "x" });
  await lives.leave(t, () => t.models.lead?.requests.length === 1);
  const other = createSqliteRecord({ path: lives.database });
  await other.takeLease(sessionId);
  gate.resolve();
  expect(await result).toMatchObject({ success: false });
  expect(ran).toEqual([]);
  expect((await other.readSession(sessionId))?.status).toBe("running");
  await other.close();
  await t.close();
});

/** A tool that tells of its runs, or never answers. */
function act(ran: string[] | null) {
  return defineTool<object>({
    name: "act",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => (ran ? `${ran.push("act")}` : new Promise(() => {})),
  });
}
