import { expect, test } from "vitest";
import {
  makeCallRow,
  makeRow,
  makeRunRow,
  makeTurnRow,
  type RowParts,
} from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { RecordedSession } from "./recorded-session.ts";
import { answerTo, type CallNow, outsideOf } from "./replay-calls.ts";

const refused = (outcome: "error" | "denied"): CallNow => ({ kind: "refused", outcome, text: "no" });
const ADMITTED: CallNow = { kind: "admitted" };
const answered = (text: string): CallNow => ({ kind: "answered", outcome: "ok", text });

type Case = {
  now: CallNow;
  /** Null: the call has no row. */
  row?: RowParts | null;
  /** Other rows of its turn. */
  beside?: ReturnType<typeof makeRow>[];
  run?: RowParts;
  /** Turns that are left to play. */
  left?: ReturnType<typeof makeTurnRow>[];
  diverged?: boolean;
  isIncomplete?: boolean;
};

/** Plays a call `call_1` of `note`, and tells its answer and where it differs. */
function play({ now, row = {}, beside = [], run = {}, left = [], diverged = false, ...more }: Case) {
  const own = row ? [makeCallRow("call_1", row)] : [];
  const turn = makeTurnRow(0, { children: [...own, ...beside] });
  const session = new RecordedSession([makeRunRow([turn, ...left], run)], () => undefined);
  const { run: played } = makeRun();
  const recorded = session.of(played);
  recorded?.take(0, "turn");
  if (recorded) recorded.diverged = diverged;
  const call = { callId: "call_1", tool: "note", input: '{"a":1}' };
  const answer = answerTo(session, played, { call, now, isIncomplete: false, ...more });
  const { first } = session.divergences;
  return { answer, differs: first && [first.what, first.recorded, first.now] };
}

const child = (call_id: string) => makeRow({ request_type: "delegation", call_id, run_id: "run_child" });
const denied = (response_content: string): RowParts => ({
  response_content,
  metadata: { outcome: "denied" },
});

test("a call is answered with what its row says", () => {
  const metadata = { tainted: true, public: true, shown: ["ada@example.com"] };
  expect(play({ now: ADMITTED, row: { metadata } })).toEqual({
    answer: { text: "answered", outcome: "ok", ...metadata },
    differs: null,
  });
  expect(play({ now: ADMITTED }).answer).toEqual({ text: "answered", outcome: "ok", tainted: false });
  expect(play({ now: ADMITTED, row: { metadata: { outcome: undefined } } }).answer?.outcome).toBe("error");
});

test("a run that differs already gets no further answers, and a call that never ended has none", () => {
  expect(play({ now: ADMITTED, diverged: true }).answer).toBeNull();
  expect(play({ now: refused("denied"), row: { closed_seq: null } })).toEqual({
    ...{ answer: null, differs: null },
  });
});

test("a call that was not made differs, unless its run was cut short or child runs answer for it", () => {
  const nothing = { answer: null, differs: null };
  expect(play({ now: ADMITTED, row: null })).toEqual({
    answer: null,
    differs: ["the call of note", "it was not made", '{"a":1}'],
  });
  expect(play({ now: ADMITTED, row: null, run: { closed_seq: null } })).toEqual(nothing);
  expect(play({ now: answered("x"), row: null, beside: [child("call_1")] })).toEqual(nothing);
});

test("a delegation that began a run differs where it is refused now, even in a run that was cut short", () => {
  const delegated = { now: refused("denied"), row: null, beside: [child("call_1")] };
  const differs = ["the call of note", "answered by a run", "denied: no"];
  expect(play(delegated).differs).toEqual(differs);
  expect(play({ ...delegated, run: { bailout_reason: "cancelled" } }).differs).toEqual(differs);
});

test.each([
  ["admitted", "answered", ADMITTED, {}, true],
  ["admitted", "denied", ADMITTED, denied("permission denied: settings: no"), false],
  ["admitted", "denied by a right revoked since", ADMITTED, denied("permission denied: revoked: no"), true],
  ["admitted", "denied by a flag", ADMITTED, denied("permission denied: session: no"), true],
  [
    "admitted",
    "a delegation revoked since",
    ADMITTED,
    denied('{"error":{"type":"not_allowed","message":"revoked: no'),
    true,
  ],
  ["admitted", "denied, quoting such a right", ADMITTED, denied("no: permission denied: revoked: "), false],
  ["denied", "answered", refused("denied"), {}, false],
  ["denied", "denied", refused("denied"), denied("no"), true],
  ["denied", "an error", refused("denied"), { metadata: { outcome: "error" } }, false],
  ["invalid", "denied", refused("error"), denied("no"), true],
  ["invalid", "an error", refused("error"), { metadata: { outcome: "error" } }, true],
  ["invalid", "answered", refused("error"), {}, false],
  ["invalid", "answered, with a secret inside", refused("error"), { metadata: { redacted: true } }, true],
  ["denied", "answered, with a secret inside", refused("denied"), { metadata: { redacted: true } }, false],
])("a call that is %s now and was %s is the same or not", (_, __, now, row, isSame) => {
  expect(play({ now, row }).differs === null).toBe(isSame);
});

test("a difference shows the outcome of then and of now", () => {
  expect(play({ now: refused("denied") }).differs).toEqual([
    "the call of note",
    "ok: answered",
    "denied: no",
  ]);
  expect(play({ now: ADMITTED, row: denied("no") }).differs).toEqual([
    ...["the call of note", "denied: no", "allowed"],
  ]);
});

test("the answer of a delegation must be the recorded one where nothing else decides it", () => {
  const other = { now: answered("other") };
  expect(play({ now: answered("answered") }).differs).toBeNull();
  expect(play(other).differs).toEqual(["the call of note", "answered", "other"]);
  expect(play({ ...other, beside: [makeCallRow("call_2")] }).differs).not.toBeNull();
  expect(play({ ...other, run: { bailout_reason: "max_tokens" }, left: [makeTurnRow(1)] }).differs).toEqual([
    ...["the call of note", "answered", "other"],
  ]);
});

test("the answer of a delegation may be another one where another of its turn or the end of its run decided it", () => {
  const other = { now: answered("other") };
  expect(play({ ...other, beside: [child("call_2")] }).differs).toBeNull();
  const collected = makeCallRow("call_2", { metadata: { children: { delivered: [], running: [] } } });
  expect(play({ ...other, beside: [collected] }).differs).toBeNull();
  expect(play({ ...other, run: { bailout_reason: "cancelled" } }).differs).toBeNull();
});

test("tasks that never began make an answer uncertain, but not one that refused all of them", () => {
  const other = { now: answered("other"), isIncomplete: true };
  expect(play(other).differs).toBeNull();
  expect(play({ ...other, row: { response_content: '{"error":{"type":"x"}}' } }).differs).not.toBeNull();
});

test("what the outside said of a call is whom it reaches and whether a person was asked", () => {
  const read = (metadata: object, response_content = "") =>
    outsideOf(
      makeCallRow("call_1", { response_content, metadata: { reached: ["ada@example.com"], ...metadata } }),
    );
  const reached = [{ kind: "recipient", address: "ada@example.com" }];
  expect(read({})).toEqual({ reached, asked: null });
  expect(read({ approvedBy: "Ada" })).toEqual({ reached, asked: "as recorded" });
  const asked = "'send' needs approval (it reaches others)";
  expect(read({ outcome: "denied" }, asked)).toEqual({ reached, asked: "as recorded" });
  expect(read({ outcome: "denied" }, "permission denied: no")).toEqual({ reached, asked: null });
  expect(read({ outcome: "ok" }, asked)).toEqual({ reached, asked: null });
  expect(read({ reached: null })).toBe("unknown");
  expect(read({ reached: undefined })).toBeUndefined();
});
