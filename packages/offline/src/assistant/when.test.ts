import { expect, test } from "vitest";
import { readDaySpan } from "./span.ts";
import { readWhen } from "./when.ts";

/** A Monday. */
const at = { now: "2026-11-16T07:00:00+01:00", timezone: "Europe/Berlin" };

test.each([
  ["next Tuesday 2pm", "2026-11-17", "14:00"],
  ["next Monday at 10", "2026-11-23", "10:00"],
  ["Monday at 10", "2026-11-16", "10:00"],
  ["Tuesday next week at 14:30", "2026-11-24", "14:30"],
  ["next week Thursday at noon", "2026-11-26", "12:00"],
  ["the day after tomorrow at 15:00", "2026-11-18", "15:00"],
  ["on 3 December at 16:30", "2026-12-03", "16:30"],
  ["Wed at 4", "2026-11-18", "16:00"],
  ["tomorrow at 4 am", "2026-11-17", "04:00"],
  ["in two hours", "2026-11-16", "09:00"],
])("%s is %s at %s", (text, date, time) => {
  expect(readWhen(text, at)).toMatchObject({ date, time });
});

test.each([
  ["Thursday between 10 and 12", 120],
  ["tomorrow from 2pm to 3:30pm", 90],
  ["tomorrow at 9 for half an hour", 30],
  ["tomorrow at 9 for 2 hours", 120],
  ["tomorrow at 9 for 45 mins", 45],
])("%s takes %i minutes", (text, minutes) => {
  expect(readWhen(text, at).minutes).toBe(minutes);
});

test.each([
  ["every Monday at 9am", "FREQ=WEEKLY;BYDAY=MO"],
  ["every Tuesday and Thursday at 9am", "FREQ=WEEKLY;BYDAY=TU,TH"],
  ["every other Friday at 15:00", "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"],
  ["every weekday at 9am", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
  ["daily at 9:15", "FREQ=DAILY"],
])("%s recurs by %s", (text, rule) => {
  expect(readWhen(text, at).recurrence).toBe(rule);
});

test("a time with a zone of its own keeps its offset", () => {
  expect(readWhen("tomorrow at 2pm UTC", at)).toMatchObject({ time: "14:00", offset: "+00:00" });
});

test.each(["Tuesday or Wednesday at 2pm", "12/01/2026 at 2pm", "Tuesday 18 November at 2pm"])(
  "%s can be read in two ways",
  (text) => {
    expect(readWhen(text, at).twoWays).toBeDefined();
  },
);

test.each([
  ["last week", "2026-11-09", "2026-11-16"],
  ["this week", "2026-11-16", "2026-11-23"],
  ["next week", "2026-11-23", "2026-11-30"],
  ["yesterday", "2026-11-15", "2026-11-16"],
  ["last month", "2026-10-01", "2026-11-01"],
  ["the last 3 days", "2026-11-13", "2026-11-17"],
  ["between Wednesday and Friday", "2026-11-18", "2026-11-21"],
])("%s is from %s up to %s", (text, start, end) => {
  expect(readDaySpan(text, at)).toMatchObject({ start, end });
});
