import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import { loadAgents } from "../agents/load-agents.ts";
import { mandatoryDelegations, requestWords } from "./mandatory-delegations.ts";

const agentOf = (name: string, more: object = {}) =>
  defineAgent({ name, description: "x", prompt: "x", ...more });
const lead = agentOf("lead", { subagents: ["*"] });
const expert = agentOf("expert", {
  delegation: {
    mandatory: true,
    triggers: [
      "report",
      {
        word: ["comprehensive", "detailed", "in-depth", "analysis", "summary"],
        with: ["search result", "source", "article", "web", "news", "development", "link"],
        not: ["code", "test", "commit", "bug", "function", "file", "email", "calendar"],
      },
    ],
  },
});

const wordFor = (request: string) =>
  mandatoryDelegations(request, { agent: lead, delegates: [expert] })[0]?.word ?? null;

test.each([
  ["Create a comprehensive report on durable storage", "report"],
  ["Two REPORTS, please", "report"],
  ["Give me a detailed overview of the news on tape", "detailed"],
  ["an in-depth look at recent developments in consensus", "in-depth"],
  ["An in depth study of web articles about tape", "in-depth"],
  ["Summaries of the search results for RAID", "summary"],
  ["analysis of https://example.org/a/b", "analysis"],
])("'%s' is marked by '%s'", (request, word) => {
  expect(wordFor(request)).toBe(word);
});

test.each([
  "Give me a detailed explanation of the scheduler",
  "A summary of what this folder is for",
  "detailed analysis of the bug in the article parser",
  "Write a comprehensive test suite for the news reader",
  "a summary of the sources in src/loop/run.ts",
  "summary of the articles in my email",
  "Rename src/report.ts to src/result.ts",
  "What does `report` mean here?",
  "Fix report_page and reportPage",
  "what calls report() and what does --report do",
  "look into tools/report please",
  "The reporter was reporting",
  "",
])("'%s' is not marked", (request) => {
  expect(wordFor(request)).toBeNull();
});

test("only an agent that can be delegated to, and never the one that has the task, is demanded", () => {
  const request = "a report";
  expect(mandatoryDelegations(request, { agent: lead, delegates: [] })).toEqual([]);
  expect(mandatoryDelegations(request, { agent: expert, delegates: [expert] })).toEqual([]);
  const optional = agentOf("optional", { delegation: { mandatory: false, triggers: ["report"] } });
  expect(mandatoryDelegations(request, { agent: lead, delegates: [optional, expert] })).toEqual([
    { agent: "expert", word: "report" },
  ]);
});

test("the built-in report expert is demanded for reports and for work on sources, and left alone by work on code and mail", async () => {
  const builtinDir = fileURLToPath(new URL("../../../../agents", import.meta.url));
  const registry = await loadAgents({ projectDir: builtinDir, builtinDir, known: {} });
  const main = registry.get("main");
  if (!main) throw new Error("there is no main agent");
  const demanded = (request: string) =>
    mandatoryDelegations(request, { agent: main, delegates: registry.list() }).map(({ agent }) => agent);
  for (const request of [
    "Create a comprehensive report on durable storage",
    "I need a detailed analysis of recent developments in AI regulation",
    "A summary of the search results, please",
    "Summary of these articles: https://example.org/a https://example.org/b",
  ])
    expect(demanded(request), request).toEqual(["report-creation-expert"]);
  for (const request of [
    "Give me a detailed explanation of the scheduler code",
    "Write comprehensive tests for the web module",
    "a summary of the bug and its sources",
    "Summary of my latest emails",
    "in-depth analysis of src/loop/run.ts",
    "Find where the scheduler limits concurrency and summarise it",
  ])
    expect(demanded(request), request).toEqual([]);
});

test("words are found in any case and among any others, and any text can be read", () => {
  const plain = fc.stringMatching(/^[a-z]{1,8}$/).filter((word) => word !== "code");
  fc.assert(
    fc.property(fc.array(plain), fc.array(plain), fc.boolean(), (before, after, upper) => {
      const word = upper ? "REPORT" : "report";
      expect(wordFor([...before, word, ...after].join(" "))).toBe("report");
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => requestWords(text).every((word) => word !== "")),
  );
});
