import { expect, test } from "vitest";
import { makeRunRow, makeTurnRow, type RowParts } from "../../../../test/fixtures/hand-made-rows.ts";
import type { MessageNode } from "../schema/record.ts";
import { RecordedSession } from "./recorded-session.ts";
import { compareTrees } from "./replay-session.ts";

const lead = (parts: RowParts = {}, ...children: MessageNode[]) =>
  makeRunRow([makeTurnRow(0, { children })], { agent_role: "lead", iteration_count: 1, ...parts });
const worker = (run_id: string, { metadata, ...parts }: RowParts = {}) =>
  makeRunRow([], {
    ...{ run_id, agent_role: "worker", iteration_count: 2 },
    ...parts,
    metadata: { parentRun: "run_root", ...metadata },
  });

/** Where a tree differs from the recorded one. */
function compare(recorded: MessageNode, now: MessageNode) {
  const [then, today] = [recorded, now].map((root) => new RecordedSession([root], () => undefined));
  return then && today && compareTrees(then, today);
}

test("trees of the same runs that ended in the same way do not differ", () => {
  expect(compare(lead({}, worker("run_1")), lead({}, worker("run_1")))).toBeNull();
});

test("a run that ended in another way or after other turns is a difference, also where it fails now", () => {
  const differ = (parts: RowParts) => compare(lead({}, worker("run_1")), lead({}, worker("run_1", parts)));
  const recorded = "lead > worker: completed after 2 turns";
  const about = { run: "lead > worker", turn: 0, what: "the run", recorded };
  expect(differ({ status: "failed" })).toEqual({ ...about, now: "lead > worker: failed after 2 turns" });
  expect(differ({ iteration_count: 3 })).toEqual({ ...about, now: "lead > worker: completed after 3 turns" });
  expect(differ({ agent_role: "other" })).toEqual({ ...about, now: "lead > other: completed after 2 turns" });
});

test("a run whose record ends before it did may end now as it likes, but must be there", () => {
  const then = lead(
    { closed_seq: null, status: "running" },
    worker("run_1", { closed_seq: null, status: "running" }),
  );
  expect(compare(then, lead({}, worker("run_1", { status: "failed" })))).toBeNull();
  expect(compare(then, lead())).toMatchObject({ run: "lead > worker", now: "it is not started" });
});

test("a recorded run that is missing now is a difference, though there is another in its place", () => {
  expect(compare(lead({}, worker("run_1")), lead({}, worker("run_2")))).toEqual({
    ...{ run: "lead > worker", turn: 0, what: "the run" },
    ...{ recorded: "lead > worker: completed after 2 turns", now: "it is not started" },
  });
});

test("a run that was not recorded is a difference, unless it is a task that never began", () => {
  expect(compare(lead(), lead({}, worker("run_1")))).toEqual({
    ...{ run: "lead > worker", turn: 0, what: "the run" },
    ...{ recorded: "no such run", now: "lead > worker: completed after 2 turns" },
  });
  expect(compare(lead(), lead({}, worker("run_1", { bailout_reason: "not_started" })))).toBeNull();
  expect(compare(lead(), lead({}, worker("run_1", { metadata: { snapshot: undefined } })))).toBeNull();
});

test("of several runs that differ the one that began first is named", () => {
  const children = (status: "completed" | "failed") => [
    worker("run_late", { agent_role: "late", opened_seq: 9, status }),
    worker("run_early", { agent_role: "early", opened_seq: 5, status }),
    worker("run_middle", { agent_role: "middle", opened_seq: 7, status }),
  ];
  const then = lead({}, ...children("completed"));
  expect(compare(then, lead({}, ...children("failed")))).toMatchObject({ run: "lead > early" });
  expect(compare(then, lead({}, ...children("failed").toReversed()))).toMatchObject({ run: "lead > early" });
});
