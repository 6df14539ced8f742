import type { ApprovalView } from "@retinue/core/schema/api/approval";
import type { RunView } from "@retinue/core/schema/api/session";
import { expect, test } from "vitest";
import { type ChatRow, type Conversation, flattenSession } from "./flatten-session.ts";

type Made = [id: string, parent: string | null, status?: RunView["status"]];

function makeRun([runId, parentRunId, status = "completed"]: Made, index: number): RunView {
  const isLive = status === "running";
  return {
    runId,
    parentRunId,
    callId: null,
    messageId: index,
    agent: "coder",
    model: "m",
    depth: 0,
    task: runId,
    attempt: 0,
    status,
    partial: false,
    bailoutReason: null,
    error: null,
    startedAtMs: 0,
    endedAtMs: isLive ? null : 1,
    durationMs: isLive ? null : 1,
    iterations: 1,
    maxIterations: null,
    tokens: 0,
    costUsd: 0,
    summary: null,
    tainted: false,
    openedSeq: index,
    closedSeq: isLive ? null : index,
  };
}

function conversation(made: readonly Made[], more: Partial<Conversation> = {}): Conversation {
  const runs = new Map(made.map((one, index) => [one[0], makeRun(one, index)]));
  const below = (parent: string | null) => made.filter((one) => one[1] === parent).map(([id]) => id);
  return {
    roots: below(null),
    run: (id) => runs.get(id),
    children: below,
    opened: new Map(),
    held: null,
    asks: new Map(),
    said: [],
    notices: [],
    ...more,
  };
}

const keys = (rows: readonly ChatRow[]) => rows.map(({ key, level }) => `${level} ${key}`);

/** Runs behind the bar below the root, as they stand. */
const behind = (rows: readonly ChatRow[]) =>
  rows.flatMap((row) => (row.kind === "run" && row.level === 3 ? [row.runId] : []));

const approval = (runId: string): ApprovalView => ({
  approvalId: `ask ${runId}`,
  sessionId: "s",
  session: "s",
  runId,
  callId: "c",
  tool: "shell",
  input: {},
  presented: null,
  risk: "high",
  reason: "",
  chain: [],
  targets: [],
  tainted: false,
  diff: null,
  requestedAtMs: 0,
  expiresAtMs: null,
  isParked: false,
  answer: null,
});

const six = (status: RunView["status"] = "completed"): Made[] =>
  ["a", "b", "c", "d", "e", "f"].map((id) => [id, "root", status]);

test("live and failed runs are open with what is below them, ended ones are one line", () => {
  const { rows } = flattenSession(
    conversation([
      ["root", null, "running"],
      ["live", "root", "running"],
      ["below", "live"],
      ["done", "root"],
      ["hidden", "done"],
      ["bad", "root", "failed"],
    ]),
  );
  expect(keys(rows)).toEqual([
    "1 person:root",
    "1 run:root",
    "1 body:root",
    "2 run:live",
    "2 body:live",
    "3 run:below",
    "2 run:done",
    "2 run:bad",
    "2 body:bad",
    "1 answer:root",
  ]);
});

test("what the person opened or closed overrides the default", () => {
  const made: Made[] = [
    ["root", null, "running"],
    ["live", "root", "running"],
    ["done", "root"],
  ];
  const opened = new Map([
    ["run:live", false],
    ["run:done", true],
  ]);
  const { rows } = flattenSession(conversation(made, { opened }));
  expect(keys(rows)).toContain("2 body:done");
  expect(keys(rows)).not.toContain("2 body:live");
});

test("five siblings are shown one by one, six behind one bar with their counts", () => {
  const five = flattenSession(conversation([["root", null], ...six().slice(1)])).rows;
  expect(five.some(({ kind }) => kind === "group")).toBe(false);
  const { rows } = flattenSession(conversation([["root", null], ...six()]));
  expect(rows.find(({ kind }) => kind === "group")).toMatchObject({
    size: 6,
    isOpen: false,
    done: 6,
    failed: 0,
    live: 0,
    stopped: 0,
  });
});

test("behind a bar failures come first, then running ones, then the rest", () => {
  const statuses: Readonly<Record<string, RunView["status"]>> = { d: "failed", b: "running", a: "cancelled" };
  const made: Made[] = six().map(([id, parent]) => [id, parent, statuses[id] ?? "completed"]);
  const { rows } = flattenSession(conversation([["root", null, "running"], ...made]));
  expect(behind(rows)).toEqual(["d", "b", "a", "c", "e", "f"]);
});

test("while the person reads, runs behind a bar neither fold away nor change places", () => {
  const { held } = flattenSession(conversation([["root", null, "running"], ...six("running")]));
  const ended: Made[] = six().map(([id, parent]) => [id, parent, id === "f" ? "failed" : "completed"]);
  const all: Made[] = [["root", null], ...ended, ["g", "root"]];
  expect(behind(flattenSession(conversation(all, { held })).rows)).toEqual([
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
  ]);
  expect(behind(flattenSession(conversation(all)).rows)).toEqual([]);
});

test("a call that waits for the person is shown however much above it is closed", () => {
  const made: Made[] = [
    ["root", null, "running"],
    ["lead", "root", "running"],
    ["asking", "lead", "running"],
  ];
  const asks = new Map([["asking", [approval("asking")]]]);
  const open = flattenSession(conversation(made, { asks })).rows;
  expect(keys(open)).toContain("4 ask:ask asking");
  const closed = flattenSession(conversation(made, { asks, opened: new Map([["run:root", false]]) })).rows;
  expect(keys(closed)).toEqual(["1 person:root", "1 run:root", "2 ask:ask asking", "1 answer:root"]);
});
