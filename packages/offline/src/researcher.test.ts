import { describe, expect, test } from "vitest";
import type { OfflineMove, PastCall, Situation } from "./conversation.ts";
import { main } from "./main.ts";
import { researcher } from "./researcher.ts";

const DELEGATES = [
  { name: "researcher", description: "Answers questions by searching and reading files. Changes nothing." },
  { name: "reviewer", description: "Reviews one change and reports defects." },
  { name: "general-purpose", description: "A clean context with the prompt and tools of main." },
];

function situation(task: string, more: Partial<Situation> = {}): Situation {
  return {
    agent: { name: "main", aliases: [], description: "" },
    task,
    later: [],
    calls: [],
    tools: ["read", "ls", "grep", "glob", "write", "delegate", "delegate_many", "collect_results"],
    delegates: DELEGATES,
    wrapUp: false,
    condensed: false,
    demanded: [],
    ...more,
  };
}

const listCalls = (move: OfflineMove) => ("calls" in move ? move.calls : []);
const saidBy = (move: OfflineMove) => ("say" in move && move.say ? move.say : "");
const answered = (move: OfflineMove, result: (tool: string) => string): PastCall[] =>
  listCalls(move).map(({ tool, input }) => ({ tool, input, result: result(tool), failed: false }));
const child = (agent: string, said: string, taskId?: string) =>
  `<subagent_result agent="${agent}" run_id="run_1"${taskId ? ` task_id="${taskId}"` : ""} status="completed">\ncompleted · 1 turn · 0 calls\n\n${said}\n</subagent_result>`;
const failedChild = (agent: string, error: string, taskId: string) =>
  `<subagent_result agent="${agent}" run_id="run_1" task_id="${taskId}" status="failed">\nfailed · 1 turn · 0 calls\n\n[measured]\nerror: failed: ${error}\n</subagent_result>`;

describe("the main agent", () => {
  test("hands independent parts over in one turn, and dependent ones with what they wait for", () => {
    const move = main.next(situation("Find the parser and explain the ledger. Then review both."));
    expect(listCalls(move)).toEqual([
      {
        tool: "delegate_many",
        input: {
          tasks: [
            { id: "part-1", agent: "researcher", task: "Find the parser" },
            { id: "part-2", agent: "researcher", task: "explain the ledger." },
            {
              id: "part-3",
              agent: "reviewer",
              task: "review both. (this follows on: Find the parser; explain the ledger.)",
              dependsOn: ["part-1", "part-2"],
            },
          ],
        },
      },
    ]);
  });

  test("does what one call answers itself, in the same turn", () => {
    const move = main.next(situation("List the files in src and find where slots are taken"));
    expect(listCalls(move).map(({ tool }) => tool)).toEqual(["ls", "delegate"]);
  });

  test("answers in the order that was asked, and says what failed, by whom and what was assumed", () => {
    const task = "Find the parser. Review src/a.ts.";
    const results = [
      failedChild("reviewer", "no model", "part-2"),
      child("researcher", "**Summary**: It is parse.ts.\n\n**Details**\n\nparse.ts:3", "part-1"),
    ].join("\n");
    const calls = answered(main.next(situation(task)), () => results);
    const said = saidBy(main.next(situation(task, { calls })));
    expect(said).toContain("1 of 2 parts are done.");
    expect(said).toContain("Not done: “Review src/a.ts.” (reviewer): no model");
    expect(said).toContain("**1. “Find the parser.”** (researcher)\n\nIt is parse.ts.\n\nparse.ts:3");
    expect(said).toMatch(/Assumed: I read this as 2 parts; .* is work for researcher/);
  });

  test("waits for children that still run", () => {
    const task = "Find the parser. Explain the ledger.";
    const calls = answered(main.next(situation(task)), () => '{"status":"running","run_id":"run_1"}');
    expect(listCalls(main.next(situation(task, { calls })))).toEqual([
      { tool: "collect_results", input: { wait: "all" } },
    ]);
  });

  test("takes up what a person says later, and not what the host says", () => {
    const first = situation("Find the parser");
    const calls = answered(main.next(first), () => child("researcher", "parse.ts"));
    const later = ["Your reply was empty. State your result.", "Also list the files in docs"];
    expect(listCalls(main.next({ ...first, calls, later })).map(({ tool }) => tool)).toContain("ls");
  });

  test.each(["hello", "What can you do?", "help"])("'%s' is answered with what it can do", (task) => {
    const said = saidBy(main.next(situation(task)));
    expect(said).toContain("researcher (Answers questions by searching and reading files)");
    expect(said).not.toContain("general-purpose");
  });

  test.each([
    "Write a poem about slots",
    "Implement a cache",
    "Fix the bug in src/a.ts",
    "Translate the README into French",
    "colourless green ideas",
    "rm -rf everything",
    "…",
  ])("'%s' is refused, with what is possible and how to add a model", (task) => {
    expect(main.next(situation(task))).toEqual({
      cannot: expect.stringMatching(/rules, not weights.*It can .*To add a model, set ANTHROPIC_API_KEY/),
    });
  });

  test("the same conversation always gives the same move", () => {
    const task = "Find the parser, explain the ledger, then review src/a.ts";
    expect(main.next(situation(task))).toEqual(main.next(situation(task)));
  });
});

describe("the researcher", () => {
  const files: Record<string, string> = {
    "src/scheduler/slots.ts":
      "1\timport { Queue } from './queue.ts';\n2\t\n3\t/** The global limit on runs at once. Others wait. */\n4\texport class Slots {\n5\t  tryTake(): boolean {\n6\t    if (this.active >= this.max) return false;\n7\t    return true;\n8\t  }\n9\t}",
  };
  const answer = ({ tool, input }: { tool: string; input: Readonly<Record<string, unknown>> }): string => {
    if (tool === "read") return files[String(input.path)] ?? "there is no such file";
    if (input.mode === "count") return "src/scheduler/slots.ts:4\ntest/slots.test.ts:9";
    return "src/scheduler/slots.ts:3:/** The global limit on runs at once. */\nsrc/scheduler/slots.ts:1:import x";
  };
  const play = (task: string): { said: string; calls: PastCall[]; turns: number } => {
    const calls: PastCall[] = [];
    for (let turns = 1; turns < 15; turns++) {
      const move = researcher.next(situation(task, { calls: [...calls] }));
      if (!("calls" in move)) return { said: saidBy(move), calls, turns };
      calls.push(...move.calls.map((call) => ({ ...call, result: answer(call), failed: false })));
    }
    throw new Error("it does not end");
  };

  test("searches, reads around the hits, and reports places, words of the code and key lines", () => {
    const { said, calls, turns } = play("Find where the scheduler limits concurrency and summarise it");
    expect(turns).toBeLessThanOrEqual(6);
    expect(calls.length).toBeLessThanOrEqual(15);
    expect(said).toMatch(
      /^\*\*Summary\*\*: `Slots` \(src\/scheduler\/slots\.ts:4\): The global limit on runs at once\./,
    );
    expect(said).toContain(
      "- src/scheduler/slots.ts:4 `export class Slots`: The global limit on runs at once. Others wait.",
    );
    expect(said).toContain("6 | if (this.active >= this.max) return false;");
    expect(said).toContain("Searched: “scheduler” and the like: 13 lines in 2 files");
  });

  test("a question whose words are in different places is not answered with the nearest of them", () => {
    const places: Record<string, string> = {
      "src/meaning.ts": "1\t/** What a word means. */\n2\texport function meaning(): void {}",
      "src/life.ts": "1\t/** How long a run lives. */\n2\texport function life(): void {}",
    };
    const calls: PastCall[] = [];
    let said = "";
    for (let turn = 0; turn < 9 && !said; turn++) {
      const move = researcher.next(situation("What is the meaning of life?", { calls: [...calls] }));
      said = saidBy(move);
      for (const { tool, input } of listCalls(move)) {
        const found = String(input.pattern).includes("mean") ? "src/meaning.ts" : "src/life.ts";
        const result = tool === "read" ? (places[String(input.path)] ?? "") : `${found}:1`;
        calls.push({ tool, input, result, failed: false });
      }
    }
    expect(said).toMatch(/^\*\*Summary\*\*: No answer: “meaning”, “life” are used in .*To add a model, set/s);
    expect(said).not.toContain("`meaning`");
  });

  test("a question that names a file reads it at once", () => {
    const move = researcher.next(situation("What does src/scheduler/slots.ts do?"));
    expect(listCalls(move)).toEqual([
      { tool: "read", input: { path: "src/scheduler/slots.ts", limit: 240 } },
    ]);
  });

  test("a question that builds on results looks at the files those name", () => {
    const results = child("researcher", "It is in src/scheduler/slots.ts:4.");
    const move = researcher.next(situation(`Explain it\n\n## Results this builds on\n${results}`));
    expect(listCalls(move)).toEqual([
      { tool: "read", input: { path: "src/scheduler/slots.ts", limit: 240 } },
    ]);
  });

  test("a name is looked up by structure where that tool is offered, and its tests by name", () => {
    const tools = ["read", "grep", "code_search"];
    const answers: Record<string, (input: Readonly<Record<string, unknown>>) => string> = {
      code_search: () =>
        "src/scheduler/slots.ts:4  class Slots  export class Slots {\ntest/slots.test.ts:1  import Slots  import { Slots }",
      read: () => files["src/scheduler/slots.ts"] ?? "",
      grep: ({ mode }) =>
        mode === "count"
          ? "test/slots.test.ts:3\ndocs.test.ts:1"
          : 'docs.test.ts:9:const text = "Slots";\ntest/slots.test.ts:1:import { Slots }\ntest/slots.test.ts:5:test("none is free", () => {\ntest/slots.test.ts:6:  new Slots(0);\ntest/slots.test.ts:9:test("other", () => {',
    };
    const calls: PastCall[] = [];
    let said = "";
    for (let turn = 0; turn < 9 && !said; turn++) {
      const move = researcher.next(
        situation("Where is Slots and what tests cover it?", { tools, calls: [...calls] }),
      );
      said = saidBy(move);
      for (const { tool, input } of listCalls(move))
        calls.push({ tool, input, result: answers[tool]?.(input) ?? "", failed: false });
    }
    expect(calls[0]).toMatchObject({ tool: "code_search", input: { query: "Slots" } });
    expect(said).toContain(
      "`Slots` is defined at src/scheduler/slots.ts:4: The global limit on runs at once.",
    );
    expect(said).toContain("Tests: 1 test names `Slots`.");
    expect(said).toContain("- test/slots.test.ts:5 “none is free”");
    expect(said).not.toContain("“other”");
  });

  test("results lost from a condensed conversation are not taken for absent", () => {
    const lost = situation("Where is the capacitor?", { condensed: true });
    expect(saidBy(researcher.next(lost))).toMatch(/condensed before this could be answered/);
  });

  test("finding nothing is reported, with the words that were searched for", () => {
    const calls: PastCall[] = [];
    const first = researcher.next(situation("Where is the flux capacitor?"));
    calls.push(...listCalls(first).map((call) => ({ ...call, result: "no matches", failed: false })));
    expect(saidBy(researcher.next(situation("Where is the flux capacitor?", { calls })))).toMatch(
      /Nothing in the project's files matches “flux”, “capacitor”/,
    );
  });

  test("a denied call is reported, not hidden", () => {
    const calls = listCalls(researcher.next(situation("Where is the capacitor?"))).map((call) => ({
      ...call,
      result: "permission denied: by settings",
      failed: true,
    }));
    expect(saidBy(researcher.next(situation("Where is the capacitor?", { calls })))).toContain(
      "permission denied",
    );
  });

  test("at a limit it reports what it has instead of calling on", () => {
    expect(researcher.next(situation("Where is the capacitor?", { wrapUp: true }))).toHaveProperty("say");
  });

  test.each([
    ["Where is the capacitor?", { tools: ["ls"] }, /without grep and read/],
    ["And how?", {}, /names nothing to search for/],
  ])("'%s' with %j cannot be answered", (task, more, why) => {
    expect(researcher.next(situation(task, more))).toEqual({ cannot: expect.stringMatching(why) });
  });
});
