import { expect, test } from "vitest";
import type { FileChange, FileState } from "../schema/change.ts";
import { unbooked } from "./command-watch.ts";

const state = (hash: string): FileState => (hash === "-" ? null : { mode: 0o100644, hash });
const hashOf = (at: FileState) => at?.hash ?? "-";

/** A change such as `a>b@3`: from a to b, closed as the third; without `@` it is open. */
function change(text: string, index: number): FileChange {
  const [, before = "", after = "", seq] = /^(.)>(.)(?:@(\d+))?$/.exec(text) ?? [];
  return {
    changeId: `chg_${index}`,
    sessionId: "ses",
    runId: "run",
    aboutRun: null,
    messageId: null,
    root: "/",
    path: "f",
    source: "tool",
    before: state(before),
    after: seq === undefined ? null : state(after),
    outcomeKnown: seq !== undefined,
    closedSeq: seq === undefined ? null : Number(seq),
    position: index,
    note: null,
  };
}

test.each([
  ["nothing booked: the difference is the command's", "a", "b", [], ["a>b"]],
  ["a tool's change explains it all", "a", "b", ["a>b@5"], []],
  ["the command went on from what a tool left", "a", "c", ["a>b@5"], ["b>c"]],
  ["a tool went on from what the command left", "a", "c", ["b>c@5"], ["a>b"]],
  ["the command was there before and after the tool", "a", "d", ["b>c@5"], ["a>b", "c>d"]],
  ["the command put back what a tool had changed", "a", "a", ["a>b@5"], ["b>a"]],
  ["a change under way is left to the tool", "a", "x", ["a>?"], []],
  ["what the command did before a change under way is its own", "a", "x", ["b>?"], ["a>b"]],
  ["a change that came after the look is left for the next", "a", "a", ["a>b@15"], []],
  ["of several later changes only those that explain it count", "-", "a", ["->a@5", "a>b@15"], []],
  ["a change that the first look had seen is not counted again", "b", "b", ["a>b@5"], []],
  ["nor are several of them", "c", "d", ["a>b@5", "b>c@6"], ["c>d"]],
] as const)("%s", (_, before, after, booked, expected) => {
  const found = unbooked(state(before), state(after), booked.map(change), 10);
  expect(found.map((each) => `${hashOf(each.before)}>${hashOf(each.after)}`)).toEqual(expected);
});
