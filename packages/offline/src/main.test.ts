import { describe, expect, test } from "vitest";
import { routePart } from "./main.ts";

const DELEGATES = [
  {
    name: "researcher",
    description:
      "Answers questions about the project by searching and reading its files; finds where something is and explains how it works. Changes nothing.",
  },
  { name: "planner", description: "Breaks a goal down into a plan of steps with dependencies." },
  { name: "coder", description: "Implements a change in the project's files and fixes defects." },
  { name: "reviewer", description: "Reviews one change and reports defects, worst first." },
  { name: "tester", description: "Writes and runs tests and reports what fails." },
  { name: "debugger", description: "Diagnoses the cause of a failure." },
  { name: "calendar", description: "Reads and creates events and meetings in the calendar." },
  { name: "email", description: "Searches, reads and sends mail." },
  { name: "report-creation-expert", description: "Creates comprehensive reports from search results." },
];
const TOOLS = ["read", "ls", "grep", "glob", "write", "delegate", "delegate_many"];

/** A part and who takes it: an agent, a tool with its input, or nobody. */
const CASES: readonly [part: string, taker: string][] = [
  ["Find where the scheduler limits concurrency", "researcher"],
  ["find the place where rights are decided", "researcher"],
  ["Where is createRuntime defined?", "researcher"],
  ["How does compaction work?", "researcher"],
  ["Explain the retry policy", "researcher"],
  ["What does src/scheduler/gate.ts do?", "researcher"],
  ["Which files use the ledger?", "researcher"],
  ["Why does the loop wait for the disk?", "researcher"],
  ["Summarise docs/rights.md", "researcher"],
  ["Could you please look into how settings are merged", "researcher"],
  ["Trace how an event reaches the terminal", "researcher"],
  ["Tell me which tools there are", "researcher"],
  ["I want you to investigate the store", "researcher"],
  ["count the TODO comments", "researcher"],
  ["Is there a cache for tool results?", "researcher"],
  ["Review src/discount.js", "reviewer"],
  ["Audit the permission code", "reviewer"],
  ["please review the last change", "reviewer"],
  ["Check the parser for bugs", "reviewer"],
  ["Look for security problems in src/net", "reviewer"],
  ["Run the tests", "tester"],
  ["Please run the test suite in src/store", "tester"],
  ["Test the ledger", "tester"],
  ["verify that the tests pass", "tester"],
  ["Do all tests pass?", "tester"],
  ["Which tests are failing?", "tester"],
  ["What failed?", "tester"],
  ["What does the test of failing runs do?", "researcher"],
  ["Plan the migration to Postgres", "planner"],
  ["Make a plan for the new store", "planner"],
  ["Implement a cache for prices", "nobody"],
  ["Fix the off-by-one error in slots.ts", "nobody"],
  ["Rename Gate to Door", "nobody"],
  ["Add a flag --quiet", "nobody"],
  ["refactor the loop", "nobody"],
  ["Diagnose the failure of the kill test", "debugger"],
  ["Debug the watchdog", "debugger"],
  ["explain failures", "debugger"],
  ["Explain the test failures.", "debugger"],
  ["Why does the kill test fail?", "debugger"],
  ["tell me why they fail", "debugger"],
  ["Explain how failures are handled", "researcher"],
  ["Where does it say why a run failed?", "researcher"],
  ["Explain the failure policy", "researcher"],
  ["Create a meeting with Ann tomorrow at 15:00", "calendar"],
  ["Send a mail to Ann saying hello", "email"],
  ["ask the reviewer to look at src/net", "reviewer"],
  ["use researcher to fix nothing but explain the store", "researcher"],
  ["@tester what fails?", "tester"],
  ["list the files", "ls {}"],
  ["List the files in src/scheduler.", 'ls {"path":"src/scheduler"}'],
  ["what files are here?", "ls {}"],
  ["Which files are there?", "ls {}"],
  ["what files are in docs?", 'ls {"path":"docs"}'],
  ["read README.md", 'read {"path":"README.md"}'],
  ["Show me the file `src/index.ts`", 'read {"path":"src/index.ts"}'],
  ["cat package.json", 'read {"path":"package.json"}'],
  ["find all *.test.ts files", 'glob {"pattern":"*.test.ts"}'],
  ['search for "at once" in src', 'grep {"pattern":"at once","fixed":true,"path":"src"}'],
  ["grep TODO", 'grep {"pattern":"TODO","fixed":true}'],
  ['write "hello" to notes.txt', 'write {"path":"notes.txt","content":"hello\\n"}'],
  ["Is this project any good?", "nobody"],
  ["Can you write tests?", "nobody"],
  ["colourless green ideas", "nobody"],
];

function findTaker(part: string, offer: Parameters<typeof routePart>[1]): string {
  const route = routePart(part, offer);
  if (route.kind === "call") return `${route.call.tool} ${JSON.stringify(route.call.input)}`;
  return route.kind === "delegate" ? route.agent : route.kind;
}

describe("a part goes to who does such work", () => {
  test.each(CASES)("%s → %s", (part, taker) => {
    expect(findTaker(part, { tools: TOOLS, delegates: DELEGATES })).toBe(taker);
  });
});

const [researcher] = DELEGATES;

test.each([
  ["Implement a cache for prices", "nobody"],
  ["Write a poem about slots", "nobody"],
  ["Fix the search", "nobody"],
  ["Run the tests", "nobody"],
  ["Find the cache", "researcher"],
])("with only a researcher at hand, '%s' goes to %s", (part, taker) => {
  expect(findTaker(part, { tools: TOOLS, delegates: researcher ? [researcher] : [] })).toBe(taker);
});

test("a tool that is not offered is not called", () => {
  expect(findTaker("read README.md", { tools: [], delegates: DELEGATES })).toBe("researcher");
  expect(findTaker('write "hello" to notes.txt', { tools: ["read"], delegates: [] })).toBe("nobody");
});
