import { createStore } from "../../src/store/create-store.ts";
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

/** Writes two weeks of invented sessions, so that lists and figures have something to show. */
export async function writePastSessions(path: string, project: string): Promise<void> {
  const choose = chooser(7);
  const now = Date.now();
  let clock = now;
  const store = createStore({ path, now: () => clock });
  for (let index = 0; index < 44; index++) {
    const task = TASKS[index % TASKS.length] ?? "";
    const helpers = Array.from({ length: 1 + choose(4) }, (_, place) => helperOf(place, choose));
    const to = Math.max(...helpers.map((run) => run.to ?? 0)) + 1_500;
    const root: MadeRun = {
      agent: "main",
      task,
      from: 0,
      to,
      answer: `${task}: done.`,
      costUsd: 0.01 + choose(30) / 1_000,
      runs: helpers,
    };
    clock = now - (index / 3.2) * DAY_MS - choose(7_000_000);
    await writeSession(store, {
      sessionId: `ses_past${index.toString().padStart(4, "0")}`,
      title: task,
      project,
      startedAtMs: clock - to,
      runs: [root],
    });
  }
  await store.shutdown();
}

function helperOf(place: number, choose: (below: number) => number): MadeRun {
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
