import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Record } from "@retinue/core/record/record";
import { createRecordJournal } from "@retinue/core/record/record-journal";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { RunView, StepView } from "@retinue/core/schema/api/session";
import type { StreamEvent } from "@retinue/core/schema/api/stream";
import type { Journal } from "@retinue/core/schema/record";
import { LiveRuns } from "@retinue/server/feed/live-runs";
import { SessionFeed } from "@retinue/server/feed/session-feed";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type EventReader, readEvents } from "./event-reader.ts";
import { type StepClock, stepClock } from "./step-clock.ts";

const SESSION = "ses_1";

/** A record that is written by hand, and its feed. */
async function setUp(
  path = ":memory:",
  look: <Read>(act: () => Promise<Read>) => Promise<Read> = (act) => act(),
): Promise<{
  record: Record;
  journal: Journal;
  clock: StepClock;
  feed: SessionFeed;
  live: LiveRuns;
  watched: () => boolean;
}> {
  const record = createSqliteRecord({ path });
  await record.startSession({ sessionId: SESSION, title: "t", project: "/p", workspace: "/w" });
  const clock = stepClock();
  const live = new LiveRuns(async () => ({ tokens: 0, costUsd: 0 }));
  let isWatched = true;
  const feed = new SessionFeed(SESSION, {
    clock,
    live,
    record: {
      readLog: (query) => look(() => record.readLog(query)),
      readLastSeq: (id) => look(() => record.readLastSeq(id)),
      readRow: (id) => record.readRow(id),
    },
    standing: async () => ({ state: "running", holder: "here", asks: 0 }),
    ended: () => {
      isWatched = false;
    },
  });
  const journal = await createRecordJournal(record);
  return { record, journal, clock, feed, live, watched: () => isWatched };
}

function openRow(journal: Journal, index: number, text = ""): number {
  return journal.open({
    sessionId: SESSION,
    parentId: null,
    runId: `run_${index}`,
    type: index % 3 === 0 ? "prompt" : "tool_call",
    agentRole: "main",
    depth: 0,
    startedAtMs: index,
    requestContent: `${index}${text}`,
  });
}

function closeRow(journal: Journal, id: number): void {
  journal.close(id, SESSION, {
    status: "completed",
    completedAtMs: 1,
    durationMs: 1,
    responseContent: "done",
  });
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

type Told = { seqs: number[]; rows: Map<number, RunView | StepView>; doubled: number[] };

/** What a browser would hold after everything it was sent, and what it was sent without need. */
function told(reader: EventReader<StreamEvent>, after: number): Told {
  const all: Told = { seqs: [], rows: new Map(), doubled: [] };
  let before = after;
  for (const { event, id } of reader.received) {
    if (event.kind !== "changed") continue;
    expect(id).toBe(event.seq);
    all.seqs.push(event.seq);
    for (const row of [...event.runs, ...event.steps]) {
      const isNew = row.openedSeq > before || (row.closedSeq ?? 0) > before;
      if (!isNew) all.doubled.push(row.messageId);
      all.rows.set(row.messageId, row);
    }
    before = event.seq;
  }
  return all;
}

/** A session that another process writes, over a connection of its own, whenever it is told to. */
function openForeign(path: string) {
  const db = new DatabaseSync(path);
  const insert = db.prepare(
    `INSERT INTO messages (session_id, started_at, agent_depth, request_type, iteration_count, status, run_id, opened_seq)
      VALUES (?, '2026-01-01T00:00:00.000Z', 0, ?, 0, 'running', ?, ?)`,
  );
  const update = db.prepare("UPDATE messages SET status = 'completed', closed_seq = ? WHERE id = ?");
  const open: number[] = [];
  let seq = 0;
  return {
    write(isNew: boolean): void {
      const id = isNew ? undefined : open.shift();
      seq++;
      if (id !== undefined) update.run(seq, id);
      else
        open.push(
          Number(insert.run(SESSION, seq % 3 ? "tool_call" : "prompt", `run_${seq}`, seq).lastInsertRowid),
        );
    },
    close: () => db.close(),
  };
}

const ACTS = [
  "write",
  "write",
  "write",
  "close",
  "close",
  "told",
  "tick",
  "join",
  "come back",
  "settle",
] as const;

test("a reader that joins at any moment ends with the record, nothing lost and nothing told twice", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-feed-"));
  let count = 0;
  const acts = fc.array(fc.constantFrom(...ACTS), { minLength: 5, maxLength: 60 });
  const between = fc.array(fc.constantFrom("nothing", "nothing", "write", "close"), {
    minLength: 20,
    maxLength: 60,
  });
  try {
    await fc.assert(
      fc.asyncProperty(acts, between, async (plan, raced) => {
        await followed(join(root, `${count++}.db`), plan, [...raced]);
      }),
      { numRuns: 40 },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

/** Plays a plan; `raced` is what the other process does right before and after each look at the record. */
async function followed(
  path: string,
  plan: readonly (typeof ACTS)[number][],
  raced: string[],
): Promise<void> {
  let other: ReturnType<typeof openForeign> | null = null;
  const race = () => {
    const what = other && raced.shift();
    if (what === "write" || what === "close") other?.write(what === "write");
  };
  const { record, clock, feed } = await setUp(path, async (act) => {
    race();
    const read = await act();
    race();
    return read;
  });
  await record.committed();
  const foreign = openForeign(path);
  other = foreign;
  const signal = new AbortController().signal;
  const readers: { reader: EventReader<StreamEvent>; after: number }[] = [];
  const join = (after: number) => readers.push({ reader: readEvents(feed.join(after, signal)), after });
  join(0);
  for (const what of plan) {
    if (what === "write" || what === "close") foreign.write(what === "write");
    if (what === "told") feed.recordChanged();
    if (what === "tick") clock.advance(50);
    if (what === "settle") await settle();
    if (what === "join") join(0);
    if (what !== "come back" || !readers[0]) continue;
    const last = told(readers[0].reader, 0).seqs.at(-1);
    if (last !== undefined) join(last);
  }
  raced.length = 0;
  // Nobody tells of what was written before the last one joined: it is looked for in any case.
  for (let round = 0; round < 6; round++) {
    await settle();
    clock.advance(50);
  }
  feed.recordChanged();
  clock.advance(50);
  await settle();
  const all = await record.readRows({ sessionId: SESSION });
  for (const { reader, after } of readers) {
    const { seqs, rows, doubled } = told(reader, after);
    expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => one - other));
    expect(doubled).toEqual([]);
    const expected = all.filter((row) => row.opened_seq > after || (row.closed_seq ?? 0) > after);
    if (expected.length > 0) expect(seqs.at(-1)).toBe(await record.readLastSeq(SESSION));
    expect([...rows.keys()].sort((a, b) => a - b)).toEqual(expected.map(({ id }) => id));
    for (const row of expected) expect(rows.get(row.id)?.closedSeq).toBe(row.closed_seq);
    await reader.stop();
  }
  foreign.close();
  await record.close();
}

test("a long record comes in pages that wait for the reader, and then the snapshot", async () => {
  const { record, journal, feed, clock } = await setUp();
  for (let index = 0; index < 1_000; index++) openRow(journal, index, "x".repeat(1_500));
  await record.committed();
  feed.recordChanged();
  const response = feed.join(0, new AbortController().signal);
  for (let round = 0; round < 20; round++) await settle();
  const reader = readEvents(response);
  await reader.until(({ event }) => event.kind === "snapshot");
  clock.advance(50);
  const kinds = reader.received.map(({ event }) => event.kind);
  expect(kinds.indexOf("session")).toBe(kinds.indexOf("snapshot") - 1);
  expect(kinds.filter((kind) => kind === "changed").length).toBeGreaterThan(3);
  expect(told(reader, 0).rows.size).toBe(1_000);
  await reader.stop();
  await record.close();
});

test("a reader who stands still is let go, and goes on later where he was", async () => {
  const { record, journal, clock, feed, watched } = await setUp();
  const signal = new AbortController().signal;
  const stalled = feed.join(0, signal).body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; !text.includes("event: snapshot"); )
    text += decoder.decode((await stalled?.read())?.value, { stream: true });
  const other = readEvents(feed.join(0, signal));
  await other.until(({ event }) => event.kind === "snapshot");
  let made = 0;
  const write = async () => {
    for (let index = 0; index < 100; index++) openRow(journal, made++, "y".repeat(1_900));
    await record.committed();
    feed.recordChanged();
    clock.advance(50);
    await settle();
  };
  for (let round = 0; round < 12; round++) await write();
  expect(await stalled?.read()).toMatchObject({ done: true });
  expect(told(other, 0).rows.size).toBe(made);
  const lastSeen = 150;
  const again = readEvents(feed.join(lastSeen, signal));
  await again.until(({ event }) => event.kind === "snapshot");
  expect(told(again, lastSeen).rows.size).toBe(made - lastSeen);
  expect(told(again, lastSeen).doubled).toEqual([]);
  await again.stop();
  await other.stop();
  expect(watched()).toBe(false);
  await record.close();
});

test("live text comes in pieces to who is there and as a whole to who comes; a row comes before its text is cleared", async () => {
  const { record, journal, clock, feed, live } = await setUp();
  const signal = new AbortController().signal;
  const early = readEvents(feed.join(0, signal));
  await early.until(({ event }) => event.kind === "snapshot");
  const say = (event: object) => {
    const body = { sessionId: SESSION, atMs: 0, runId: "run_0", turn: 1, ...event };
    if (live.take(body as never)) feed.liveChanged();
  };
  say({ type: "run.started", seq: 1 });
  say({ type: "text.streamed", text: "Hel" });
  // The start of a turn is told when it is on disk, and a fast model does not wait for that.
  say({ type: "turn.started" });
  for (const text of ["lo ", "you"]) say({ type: "text.streamed", text });
  clock.advance(50);
  await settle();
  const late = readEvents(feed.join(0, signal));
  const { event: snapshot } = await late.until(({ event }) => event.kind === "snapshot");
  expect(snapshot).toMatchObject({ live: { run_0: { text: "Hello you", turn: 1 } } });
  say({ type: "text.streamed", text: "!" });
  clock.advance(50);
  const id = openRow(journal, 1);
  closeRow(journal, id);
  await record.committed();
  feed.recordChanged();
  say({ type: "turn.ended", usage: { inputTokens: 3, outputTokens: 4 }, costUsd: 0.5 });
  clock.advance(50);
  await settle();
  const textOf = (reader: typeof early) =>
    reader.received
      .flatMap(({ event }) => (event.kind === "live" ? [event.runs.run_0?.text ?? ""] : []))
      .join("");
  expect(textOf(early)).toBe("Hello you!");
  expect(textOf(late)).toBe("!");
  for (const { received } of [early, late]) {
    const cleared = received.findLastIndex(({ event }) => event.kind === "live" && event.runs.run_0?.cleared);
    const changed = received.findLastIndex(({ event }) => event.kind === "changed");
    expect(changed).toBeLessThan(cleared);
    expect(received[cleared]?.event).toMatchObject({ runs: { run_0: { tokens: 7, costUsd: 0.5 } } });
  }
  say({ type: "run.ended" });
  expect(live.snapshot(SESSION)).toEqual({});
  await early.stop();
  await late.stop();
  await record.close();
});

test("of a text without end only so much is kept", () => {
  const live = new LiveRuns(async () => ({ tokens: 0, costUsd: 0 }));
  const body = { sessionId: SESSION, atMs: 0, runId: "run_0" };
  live.take({ ...body, type: "run.started", seq: 1 } as never);
  for (let index = 0; index < 300; index++)
    live.take({ ...body, type: "text.streamed", turn: 1, text: "z".repeat(1_000) });
  expect(live.snapshot(SESSION).run_0?.text).toHaveLength(100_000);
});

test("a reader that comes while the record cannot be read is let go and can come back; no other misses anything", async () => {
  let isBusy = false;
  const { record, journal, clock, feed, watched } = await setUp(":memory:", async (act) => {
    if (isBusy) throw new Error("the database is locked");
    return act();
  });
  openRow(journal, 0);
  await record.committed();
  const early = readEvents(feed.join(0, new AbortController().signal));
  await early.until(({ event }) => event.kind === "snapshot");
  clock.advance(50);
  openRow(journal, 1);
  await record.committed();
  feed.recordChanged();
  isBusy = true;
  const leaving = new AbortController();
  const late = readEvents(feed.join(0, leaving.signal));
  expect(await late.ended).toBe("closed");
  leaving.abort();
  isBusy = false;
  clock.advance(50);
  const lastSeq = await record.readLastSeq(SESSION);
  await early.until(({ event }) => event.kind === "changed" && event.seq === lastSeq);
  feed.close();
  expect(await early.ended).toBe("closed");
  expect(watched()).toBe(false);
  await record.close();
});
