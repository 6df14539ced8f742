import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitRequest } from "./split-request.ts";

/** A request, and its parts with the parts each builds on. */
const CASES: readonly [request: string, parts: readonly (readonly [text: string, ...after: number[]])[]][] = [
  ["Find the config loader", [["Find the config loader"]]],
  [
    "Find where the scheduler limits concurrency and summarise it",
    [["Find where the scheduler limits concurrency and summarise it"]],
  ],
  ["Find the loader and explain how it works", [["Find the loader and explain how it works"]]],
  ["Read a.ts and b.ts", [["Read a.ts and b.ts"]]],
  ["Find the parser and list the tests", [["Find the parser"], ["list the tests"]]],
  ["Find the parser, then review it", [["Find the parser"], ["review it", 0]]],
  ["Find the parser. Then fix the bug in it.", [["Find the parser."], ["fix the bug in it.", 0]]],
  ["Review src/a.ts. Run the tests.", [["Review src/a.ts."], ["Run the tests."]]],
  ["Find the limits; explain the queue", [["Find the limits"], ["explain the queue"]]],
  ["Review src/a.ts and src/b.ts, and run the tests", [["Review src/a.ts and src/b.ts"], ["run the tests"]]],
  [
    "1. Find the store\n2. Explain the ledger\n3. Run the tests",
    [["Find the store"], ["Explain the ledger"], ["Run the tests"]],
  ],
  ["- where is X?\n- how does Y work?", [["where is X?"], ["how does Y work?"]]],
  ["Please do the following:\n- find the store\n- run the tests", [["find the store"], ["run the tests"]]],
  [
    "In src/store:\n* find the writer\n* explain the lock",
    [["find the writer (In src/store)"], ["explain the lock (In src/store)"]],
  ],
  [
    "Find the store. Explain the ledger. Based on the findings, write a plan.",
    [["Find the store."], ["Explain the ledger."], ["Based on the findings, write a plan.", 0, 1]],
  ],
  ["First find the bug, after that fix it", [["find the bug"], ["fix it", 0]]],
  ['Search for "read and write" in src', [['Search for "read and write" in src']]],
  [
    "Find the function that parses and validates input",
    [["Find the function that parses and validates input"]],
  ],
  ["Run the tests and explain failures", [["Run the tests"], ["explain failures", 0]]],
  ["Run the tests and tell me why they fail", [["Run the tests"], ["tell me why they fail", 0]]],
  ["Run the tests and report what fails", [["Run the tests and report what fails"]]],
  ["Run the tests, then fix what fails", [["Run the tests"], ["fix what fails", 0]]],
  ["Where is X and what tests cover it?", [["Where is X and what tests cover it?"]]],
  ["Where is X defined, and which tests cover it?", [["Where is X defined and which tests cover it?"]]],
  ["Explain search and replace", [["Explain search and replace"]]],
  ["The build is slow. Find out why.", [["The build is slow."], ["Find out why."]]],
  ["What is e.g. a slot? Where is it defined?", [["What is e.g. a slot? and where is it defined?"]]],
];

describe("a request is split into parts", () => {
  test.each(CASES)("%s", (request, parts) => {
    expect(splitRequest(request).map(({ text, after }) => [text, ...after])).toEqual(parts);
  });
});

test("no request is lost or without end, and parts build only on earlier ones", () => {
  const words = fc.constantFrom(
    "find",
    "it",
    "and",
    "then",
    ",",
    ".",
    "\n",
    "- ",
    "1. ",
    '"',
    "`",
    "src/a.ts",
    "the",
    "fix",
    "\ue000",
    "?",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 60 }), (pieces) => {
      const parts = splitRequest(pieces.join(" "));
      for (const [index, { text, after }] of parts.entries()) {
        expect(text).not.toMatch(/[\ue000\ue001]/);
        expect(after.every((each) => each < index)).toBe(true);
      }
      if (pieces.includes("fix")) expect(parts.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
