import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { type MadeRun, writeSession } from "../../test/fixtures/recorded-session.ts";

const DAY_MS = 86_400_000;
const TASKS = [
  "Find where carts are priced and summarise it",
  "Add a test for carts without items",
  "Why does the receipt show 19.999?",
  "Review the last three commits",
  "Plan how gift cards could be paid with",
  "Rename `isRegular` to `isMember` everywhere",
  "Summarise what customers wrote about receipts",
  "Check that every function has a test",
];
const HELPERS = ["researcher", "coder", "tester", "reviewer", "planner"];

/** A repeatable choice, so that the pictures of two days differ only where the app does. */
function chooser(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
}

/** The session in which the task of the scene was tried before, to be compared with. */
export const EARLIER = "ses_earlier";

/** Writes two weeks of invented sessions, so that lists and figures have something to show; `task` was tried once before. */
export async function writePastSessions(path: string, project: string, task: string): Promise<void> {
  const choose = chooser(7);
  const now = Date.now();
  const past = Array.from({ length: 44 }, (_, index) => {
    const title = TASKS[index % TASKS.length] ?? "";
    const helpers = Array.from({ length: 1 + choose(4) }, (_, place) => makeHelper(place, choose));
    const to = Math.max(...helpers.map((run) => run.to ?? 0)) + 1_500;
    const run: MadeRun = {
      agent: "main",
      task: title,
      from: 0,
      to,
      answer: `${title}: done.`,
      costUsd: 0.01 + choose(30) / 1_000,
      runs: helpers,
    };
    const endedAtMs = now - (index / 3.2) * DAY_MS - choose(7_000_000);
    return { sessionId: `ses_past${index.toString().padStart(4, "0")}`, title, endedAtMs, run };
  });
  past.push({ sessionId: EARLIER, title: task, endedAtMs: now - DAY_MS, run: earlierTry(task) });
  // In the order in which they happened: that is the order of the record.
  past.sort((one, other) => one.endedAtMs - other.endedAtMs);
  let clock = now;
  const record = createSqliteRecord({ path, now: () => clock });
  for (const { sessionId, title, endedAtMs, run } of past) {
    clock = endedAtMs;
    await writeSession(record, {
      sessionId,
      title,
      project,
      startedAtMs: clock - (run.to ?? 0),
      runs: [run],
    });
  }
  await record.close();
}

function earlierTry(task: string): MadeRun {
  return {
    agent: "main",
    task,
    from: 0,
    to: 48_000,
    answer: "The percentage is divided by 100 now, and Ruth knows. The receipt was not looked at.",
    files: ["src/cart.js"],
    runs: [
      {
        agent: "researcher",
        task: "Find every place that works out or shows a discount",
        from: 1_000,
        to: 9_000,
        answer: "Two places.",
      },
      {
        agent: "planner",
        task: "Plan the change in small steps",
        from: 9_500,
        to: 14_000,
        answer: "Three steps.",
      },
      {
        agent: "coder",
        task: "Divide the percentage by 100 in src/cart.js",
        from: 14_500,
        to: 41_000,
        answer: "Mended.",
        files: ["src/cart.js"],
        runs: [
          {
            agent: "tester",
            task: "Run the tests of the cart",
            from: 20_000,
            to: 37_000,
            status: "failed",
            error: "1 of 3 failed",
          },
        ],
      },
    ],
  };
}

function makeHelper(place: number, choose: (below: number) => number): MadeRun {
  const from = 800 + place * 300;
  const hasFailed = choose(9) === 0;
  return {
    agent: HELPERS[choose(HELPERS.length)] ?? "coder",
    task: "One part of it",
    from,
    to: from + 2_000 + choose(60_000),
    costUsd: 0.004 + choose(60) / 1_000,
    ...(hasFailed ? { status: "failed", error: "the tests did not pass" } : { answer: "Found and done." }),
  };
}
