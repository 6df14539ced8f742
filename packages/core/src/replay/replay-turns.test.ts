import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { makeRunRow, makeTurnRow, type RowParts } from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import type { MessageNode } from "../schema/record.ts";
import { RecordedSession } from "./recorded-session.ts";
import { historyIn, replyTo, stopBeforeTurn } from "./replay-turns.ts";

const HERE = { status: "cancelled", bailout: "cancelled", message: "the record ends here" };
const FIGURES = { files_created: [], files_modified: [], tools_used: [], iteration_count: 0 };

const conversation = (text: string): LanguageModelV4Message[] => [
  { role: "user", content: [{ type: "text", text }] },
];

/** A run that is played again, in a turn, with the turns that were recorded of it. */
function replay(turns: MessageNode[], { turn = 0, ...root }: RowParts & { turn?: number } = {}) {
  const texts = new Map([
    ["long", JSON.stringify(conversation("all of it"))],
    ["longer", JSON.stringify(conversation("more of it"))],
  ]);
  const session = new RecordedSession([makeRunRow(turns, root)], (id) => texts.get(id));
  const { run } = makeRun();
  run.turn = turn;
  const recorded = session.of(run);
  if (!recorded) throw new Error("the run is not recorded");
  return { run, session, recorded };
}
type Replayed = ReturnType<typeof replay>;
const reply = ({ session, run }: Replayed, purpose: Parameters<typeof replyTo>[2] = "turn") =>
  replyTo(session, run, purpose);

const failed = (errorType: string, more: RowParts = {}, turn = 0) =>
  makeTurnRow(turn, {
    ...{ status: "failed", error_message: `it was ${errorType}` },
    ...more,
    metadata: { errorType, ...more.metadata },
  });
const summary = (turn: number, parts: RowParts = {}) =>
  makeTurnRow(turn, { ...parts, metadata: { purpose: "summary", ...parts.metadata } });
const wrapUp = (turn: number, parts: RowParts = {}) =>
  makeTurnRow(turn, { ...parts, metadata: { purpose: "wrap_up", ...parts.metadata } });
/** Metadata of a run that failed so. */
const ended = (type: string, message = type) => ({ result: { ...FIGURES, error: { type, message } } });

test("a run goes on while a turn of it is left", () => {
  const replayed = replay([makeTurnRow(0), makeTurnRow(1)], { bailout_reason: "cancelled" });
  expect(stopBeforeTurn(replayed.run, replayed.recorded)).toBeNull();
  expect(replayed.run.interruption).toBeNull();
});

test("a run that is not recorded, differs, or whose record ends here is ended", () => {
  const stopped = ({ run, recorded }: Replayed, is = recorded) => {
    expect(stopBeforeTurn(run, is)).toBeNull();
    return run.interruption;
  };
  const { run } = makeRun();
  stopBeforeTurn(run, undefined);
  expect(run.interruption).toEqual(HERE);
  const differing = replay([makeTurnRow(0)]);
  differing.recorded.diverged = true;
  expect(stopped(differing)).toEqual(HERE);
  expect(stopped(replay([], { closed_seq: null }))).toEqual(HERE);
  expect(stopped(replay([]))).toBeNull();
});

test("a run that was ended from outside is ended after as many turns as it had", () => {
  const stop = (turn: number) => {
    const { run, recorded } = replay([], { turn, iteration_count: 2, bailout_reason: "cancelled" });
    stopBeforeTurn(run, recorded);
    return run.interruption;
  };
  expect(stop(1)).toBeNull();
  expect([stop(2)?.message, stop(3)?.message]).toEqual(["cancelled", "cancelled"]);
});

test("the deadline that led to a last report sets it off again, in that turn and not before", () => {
  const late = (...turns: MessageNode[]) => {
    const { run, recorded } = replay(turns, { bailout_reason: "deadline" });
    return stopBeforeTurn(run, recorded);
  };
  expect(late(makeTurnRow(0), wrapUp(1))).toBeNull();
  expect(late(wrapUp(1))).toBe("deadline");
  expect(late()).toBe("deadline");
  const turns = replay([wrapUp(1)], { bailout_reason: "max_iterations" });
  expect(stopBeforeTurn(turns.run, turns.recorded)).toBeNull();
});

test("a model call gets the recorded reply, of the recorded model", () => {
  const replayed = replay([
    makeTurnRow(0, { response_content: "hello", model_id: "other/model", opened_seq: 7 }),
  ]);
  expect(reply(replayed)).toMatchObject({
    ...{ kind: "streamed", modelId: "other/model", again: false },
    streamed: { kind: "reply", reply: { text: "hello" } },
  });
  expect(replayed.recorded.position).toBe(7);
  expect(reply(replay([makeTurnRow(0)]))).toMatchObject({ modelId: "test/model" });
});

test("what a person said after a turn is heard after it, and after no other model call", () => {
  const said = { metadata: { steered: ["one thing more"] } };
  const next = makeTurnRow(1, said);
  const replayed = replay([makeTurnRow(0), next]);
  reply(replayed);
  expect(replayed.run.steering).toEqual(["one thing more"]);
  const condensed = replay([summary(0), makeTurnRow(0, said)]);
  reply(condensed, "summary");
  expect(condensed.run.steering).toEqual([]);
});

test("a run that differs gets no reply, nor does a model call that never ended", () => {
  const differing = replay([makeTurnRow(0)]);
  differing.recorded.diverged = true;
  const open = replay([makeTurnRow(0, { closed_seq: null })], { closed_seq: null });
  for (const replayed of [differing, open]) {
    expect(reply(replayed)).toEqual({ kind: "interrupted" });
    expect(replayed.run.interruption).toEqual(HERE);
    expect(replayed.session.divergences.first).toBeNull();
  }
});

/** Where a run differs that is told this before a model call. */
function tell(told: string[], turns: MessageNode[], purpose: Parameters<typeof replyTo>[2] = "turn") {
  const replayed = replay(turns);
  replayed.run.unrecorded.push(...told);
  const { kind } = reply(replayed, purpose);
  const { first } = replayed.session.divergences;
  return [kind, first && [first.what, first.recorded, first.now]];
}
const before = (...texts: string[]) => ({ metadata: { before: texts } });

test("a turn and a last report must be told what they were told, a summary is told apart", () => {
  const differs = ["interrupted", ["what the model is told", "a\n\nb", "a\n\nc"]];
  expect(tell(["a", "b"], [makeTurnRow(0, before("a", "b"))])).toEqual(["streamed", null]);
  expect(tell(["a", "c"], [makeTurnRow(0, before("a", "b"))])).toEqual(differs);
  expect(tell(["a", "c"], [wrapUp(0, { metadata: { before: ["a", "b"] } })], "wrap_up")).toEqual(differs);
  expect(tell(["a"], [summary(0)], "summary")).toEqual(["streamed", null]);
  expect(tell(["a"], [makeTurnRow(0)])).toEqual(["interrupted", ["what the model is told", "", "a"]]);
});

test("what was told before a model call that a crash cut off counts as told", () => {
  const lost = makeTurnRow(0, { status: "failed", ...before("a") });
  expect(tell(["a", "b"], [lost, makeTurnRow(0, before("b"))])).toEqual(["streamed", null]);
});

test("a difference in what a turn is told stands at that turn", () => {
  const replayed = replay([makeTurnRow(0, { opened_seq: 7, ...before("a") })]);
  reply(replayed);
  const { divergences } = replayed.session;
  divergences.note(6, { run: "earlier", turn: 1, what: "", recorded: "", now: "" });
  expect(divergences.first?.run).toBe("earlier");
});

/** Where a run differs whose conversation is replaced by this now, or is not. */
function condense(now: LanguageModelV4Message[] | null, turns: MessageNode[]) {
  const replayed = replay(turns);
  if (now) replayed.run.replaceHistory(now);
  reply(replayed);
  return { ...replayed, first: replayed.session.divergences.first };
}
const LONG = conversation("all of it");
const kept = (history: string) => ({ metadata: { history } });

test("a conversation must be condensed where and as it was", () => {
  expect(condense(LONG, [makeTurnRow(0, kept("long"))]).first).toBeNull();
  expect(condense(LONG, [makeTurnRow(0, kept("longer"))]).first).toMatchObject({
    what: "the condensed conversation",
    recorded: expect.stringContaining("more of it"),
    now: expect.stringContaining("all of it"),
  });
  expect(condense(null, [makeTurnRow(0, kept("long"))]).first).toMatchObject({ now: "not condensed" });
  expect(condense(LONG, [makeTurnRow(0)]).first).toMatchObject({ recorded: "not condensed" });
});

test("of two summaries that a crash led to, the second is in the conversation", () => {
  const { first, run } = condense(null, [summary(0), makeTurnRow(0, kept("longer"))]);
  expect(first).toBeNull();
  expect(JSON.stringify(run.history)).toContain("more of it");
});

test("of several rows the last that keeps a conversation has it", () => {
  const { session } = replay([]);
  const rows = [makeTurnRow(0, kept("long")), makeTurnRow(0, kept("longer")), makeTurnRow(0)];
  expect(historyIn(session, rows)).toContain("more of it");
  expect(historyIn(session, [makeTurnRow(0)])).toBeUndefined();
});

test("a failure is replayed with its type, its message and what had been said", () => {
  const said = { metadata: { said: "half a" } };
  const text = (errorType: string, more = {}) => reply(replay([failed(errorType, more)]));
  expect(text("network", said)).toEqual({
    ...{ kind: "streamed", modelId: "test/model", again: false },
    streamed: {
      ...{ kind: "failed", began: false, chars: 0, said: "half a" },
      error: { type: "network", message: "it was network", recoverable: false },
    },
  });
  expect(text("auth", { error_message: null })).toMatchObject({
    streamed: { error: { type: "auth", message: "auth" }, said: "" },
  });
  expect(reply(replay([makeTurnRow(0, { status: "timeout" })]))).toMatchObject({
    streamed: { error: { type: "bad_response", message: "bad_response" } },
  });
});

test("a failed call was made again if another of its turn follows, but not after an overflow", () => {
  expect(reply(replay([failed("network"), makeTurnRow(0)]))).toMatchObject({ again: true });
  expect(reply(replay([failed("network"), makeTurnRow(1)]))).toMatchObject({ again: false });
  expect(reply(replay([failed("context_overflow"), makeTurnRow(0)]))).toMatchObject({ again: false });
});

test("a failed turn was made again if the run failed because the next attempt could not be paid", () => {
  const metadata = ended("budget");
  expect(reply(replay([failed("network")], { metadata }))).toMatchObject({ again: true });
  const report = replay([wrapUp(0, { status: "failed", metadata: { errorType: "network" } })], { metadata });
  expect(reply(report, "wrap_up")).toMatchObject({ again: false });
});

test.each(["first_token_timeout", "idle_timeout"])(
  "a model that fell silent ends the run with %s",
  (reason) => {
    const silent = (...rows: MessageNode[]) => reply(replay(rows, { bailout_reason: reason }));
    expect(silent(failed("timeout"))).toMatchObject({ streamed: { bailout: reason } });
    expect(silent(failed("timeout"), makeTurnRow(0))).not.toMatchObject({ streamed: { bailout: reason } });
    expect(reply(replay([failed("timeout")], { bailout_reason: "max_tokens" }))).not.toMatchObject({
      streamed: { bailout: "max_tokens" },
    });
  },
);

test("a model call that was ended from outside ends the run, which keeps what had been said", () => {
  const row = failed("cancelled", { metadata: { said: "half a" } });
  const cancelled = replay([row], { bailout_reason: "cancelled", error_message: "by Ada" });
  expect(reply(cancelled)).toEqual({ kind: "interrupted" });
  expect(cancelled.run.interruption).toMatchObject({ message: "by Ada" });
  expect(cancelled.run.brokenOff).toBe("half a");
  const later = replay([row, makeTurnRow(1)], { bailout_reason: "cancelled" });
  expect(reply(later)).toMatchObject({ kind: "streamed" });
  expect(later.run.interruption).toBeNull();
});

test("a model call that left no row is where the run was ended from outside, or where its record ends", () => {
  const outside = replay([], { bailout_reason: "timeout" });
  expect(reply(outside)).toEqual({ kind: "interrupted" });
  expect(outside.run.interruption).toMatchObject({ status: "timeout" });
  const open = replay([], { closed_seq: null });
  expect(reply(open)).toEqual({ kind: "interrupted" });
  expect(open.run.interruption).toEqual(HERE);
  expect([outside, open].map(({ session }) => session.divergences.first)).toEqual([null, null]);
});

test("a model call before the one at which a run was ended from outside is a difference", () => {
  const replayed = replay([makeTurnRow(1)], { bailout_reason: "cancelled" });
  expect(reply(replayed)).toEqual({ kind: "interrupted" });
  expect(replayed.session.divergences.first).toMatchObject({ what: "one turn more" });
});

test.each([
  ["tokens", "max_tokens", {}],
  ["cost", "max_cost", {}],
  ["tokens", null, ended("budget", "the token budget is used up")],
  ["cost", null, ended("budget", "the cost budget is used up")],
])(
  "a turn that left no row because of the %s could not be paid (%s)",
  (resource, bailout_reason, metadata) => {
    expect(reply(replay([], { bailout_reason, metadata }))).toEqual({ kind: "unaffordable", resource });
    expect(reply(replay([wrapUp(1)], { bailout_reason, metadata }))).toMatchObject({ kind: "unaffordable" });
    const later = replay([makeTurnRow(1)], { bailout_reason, metadata });
    expect(reply(later)).toEqual({ kind: "interrupted" });
  },
);

test("a summary could not be paid if the run kept to a budget, else it is a difference", () => {
  const limited = replay([makeTurnRow(1, { metadata: { reserved: 5 } })]);
  expect(reply(limited, "summary")).toEqual({ kind: "unaffordable", resource: "tokens" });
  const free = replay([makeTurnRow(1)]);
  expect(reply(free, "summary")).toEqual({ kind: "interrupted" });
  expect(free.session.divergences.first).toMatchObject({ what: "a summary", now: "one is made" });
});

test("a last report could not be paid if the run ended at the limit that calls for it, else it is a difference", () => {
  const report = (reason: "max_tokens" | "max_iterations") => {
    const replayed = replay([], { bailout_reason: "max_tokens" });
    replayed.run.wrapUpReason = reason;
    return { ...replayed, said: reply(replayed, "wrap_up") };
  };
  expect(report("max_tokens").said).toEqual({ kind: "unaffordable", resource: "tokens" });
  const { said, session } = report("max_iterations");
  expect(said).toEqual({ kind: "interrupted" });
  expect(session.divergences.first).toMatchObject({ what: "a last report", recorded: "no such model call" });
});

test("a run that failed before its last turn left a row fails so again, in that turn only", () => {
  const metadata = ended("auth", "no key");
  expect(reply(replay([], { turn: 2, iteration_count: 2, metadata }))).toEqual({
    ...{ kind: "failed", error: { type: "auth", message: "no key" } },
  });
  const early = replay([], { turn: 1, iteration_count: 2, metadata });
  expect(reply(early)).toEqual({ kind: "interrupted" });
  expect(early.session.divergences.first).toMatchObject({ what: "one turn more", turn: 1 });
  const report = replay([], { turn: 2, iteration_count: 2, metadata, bailout_reason: "max_tokens" });
  expect(reply(report, "wrap_up")).toEqual({ kind: "interrupted" });
});
