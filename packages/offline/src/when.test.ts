import { expect, test } from "vitest";
import { readSentence, type SentenceForm } from "./read-request.ts";
import { MOMENT_PARTS, readSpan, readWhen } from "./when.ts";

/** A Monday. */
const at = { now: "2026-11-16T07:00:00+01:00", timezone: "Europe/Berlin" };

/** What "meet" and the words make of a moment; a text if it is none. */
function readWords(words: string): unknown {
  let moment: unknown = "not read";
  const meet: SentenceForm = {
    begins: "meet",
    parts: MOMENT_PARTS,
    read(gaps) {
      moment = readWhen(gaps, at);
      return { calls: [], risk: "low" };
    },
  };
  readSentence(`meet ${words}`, { sentences: [meet] }, at);
  return moment;
}

test.each([
  ["next Tuesday 2pm", "2026-11-17", "14:00"],
  ["next Monday at 10", "2026-11-23", "10:00"],
  ["Monday at 10", "2026-11-16", "10:00"],
  ["Tuesday next week at 14:30", "2026-11-24", "14:30"],
  ["the day after tomorrow at 15:00", "2026-11-18", "15:00"],
  ["on 3 December at 16:30", "2026-12-03", "16:30"],
  ["Wed at 4", "2026-11-18", "16:00"],
  ["tomorrow at 4 am", "2026-11-17", "04:00"],
])("%s is %s at %s", (text, date, time) => {
  expect(readWords(text)).toMatchObject({ date, time });
});

test.each([
  ["Thursday between 10 and 12", 120],
  ["tomorrow from 2pm to 3:30pm", 90],
  ["tomorrow at 9 for half an hour", 30],
  ["tomorrow at 9 for 2 hours", 120],
  ["tomorrow at 9 for 45 mins", 45],
])("%s takes %i minutes", (text, minutes) => {
  expect(readWords(text)).toMatchObject({ minutes });
});

test.each([
  "Tuesday or Wednesday at 2pm",
  "12/01/2026 at 2pm",
  "Tuesday 18 November at 2pm",
  "on February 30 at 2pm",
  "tomorrow at 25:00",
  "tomorrow at 2pm UTC",
  "tomorrow at 2pm at 3",
  "in two hours",
  "every Monday at 9am",
  "on Friday morning",
])("%s is not a moment", (text) => {
  expect(readWords(text)).toBeTypeOf("string");
});

test.each([
  ["last week", "2026-11-09", "2026-11-16"],
  ["this week", "2026-11-16", "2026-11-23"],
  ["next week", "2026-11-23", "2026-11-30"],
  ["yesterday", "2026-11-15", "2026-11-16"],
  ["last month", "2026-10-01", "2026-11-01"],
  ["the last 3 days", "2026-11-13", "2026-11-17"],
  ["between Wednesday and Friday", "2026-11-18", "2026-11-21"],
])("%s is from %s up to %s", (text, start, end) => {
  expect(readSpan(text, at)).toMatchObject({ start, end });
});
