import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PastCall, Situation } from "./conversation.ts";
import {
  findUrls,
  type Hit,
  listHits,
  readHits,
  readTopic,
  reportExpert,
  reportLead,
  toFileName,
  wantsDepth,
} from "./report.ts";

describe("the topic of a request", () => {
  test.each([
    ["Create a comprehensive report on durable storage", "durable storage"],
    ["Please write me a detailed report about the cost of tape.", "cost of tape"],
    ["I need an in-depth analysis of RAID and backups from the search results", "RAID and backups"],
    ["Summary of the news on night trains", "night trains"],
    ["A report: write-ahead logs", "write-ahead logs"],
    ["comprehensive report on AI developments. Use recent sources only.", "AI developments"],
    ["Report", "Report"],
  ])("%j is %j", (request, topic) => {
    expect(readTopic(request)).toBe(topic);
  });

  test("is found in any text, and gives a safe file name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(readTopic(text).length).toBeLessThanOrEqual(160);
        expect(toFileName(readTopic(text))).toMatch(/^[a-z0-9][a-z0-9-]{0,59}$/);
      }),
    );
  });

  test("depth is wanted only where the request says so", () => {
    expect(wantsDepth("a comprehensive report")).toBe(true);
    expect(wantsDepth("an in depth look")).toBe(true);
    expect(wantsDepth("a report on tape")).toBe(false);
  });
});

test("search results are read back as they were listed", () => {
  const line = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 .,-]{0,30}[a-z]$/);
  const hit: fc.Arbitrary<Hit> = fc.record({
    title: line,
    url: fc.nat(1e6).map((at) => `https://e.example/${at}`),
    snippet: line,
  });
  fc.assert(
    fc.property(fc.uniqueArray(hit, { selector: ({ url }) => url, maxLength: 12 }), (hits) => {
      expect(readHits(listHits(hits))).toEqual(hits);
      expect(findUrls(listHits(hits))).toEqual(hits.map(({ url }) => url));
    }),
  );
  expect(findUrls("See (https://a.example/x), and https://b.example/y?z=1.")).toEqual([
    "https://a.example/x",
    "https://b.example/y?z=1",
  ]);
});

const hits: Hit[] = Array.from({ length: 9 }, (_, at) => ({
  title: `Title ${at}`,
  url: `https://e.example/${at}`,
  snippet: `Words about tape number ${at}.`,
}));
const situation = (more: Partial<Situation>): Situation => ({
  agent: { name: "x", aliases: [], description: "" },
  task: "Create a comprehensive report on tape",
  later: [],
  calls: [],
  tools: ["web_search", "delegate", "crawl_parallel", "save_corpus", "write_local_file"],
  delegates: [{ name: "report-creation-expert", description: "x" }],
  demanded: ["report-creation-expert"],
  wrapUp: false,
  condensed: false,
  ...more,
});
const done = (tool: string, input: object, result: string, failed = false): PastCall => ({
  tool,
  input: { ...input },
  result,
  failed,
});

describe("the main agent with a report to make", () => {
  test("takes only what must go to the expert and can", () => {
    expect(reportLead.takes?.(situation({}))).toBe(true);
    expect(reportLead.takes?.(situation({ demanded: [] }))).toBe(false);
    expect(reportLead.takes?.(situation({ delegates: [] }))).toBe(false);
  });

  const first = { tool: "web_search", input: { query: "tape", limit: 20 } };
  test("searches, and hands over what it found with the workspace", () => {
    expect(reportLead.next(situation({}))).toEqual({ calls: [first] });
    const found = done("web_search", first.input, listHits(hits));
    expect(reportLead.next(situation({ calls: [found], workspace: "/w" }))).toEqual({
      calls: [
        {
          tool: "delegate",
          input: {
            agent: "report-creation-expert",
            task: `Create a comprehensive report on tape\n\n## Search results\n${listHits(hits)}\n\n## Workspace\nCURRENT_SESSION_WORKSPACE: /w`,
          },
        },
      ],
    });
  });

  test("searches for the words of the topic if it found little", () => {
    const task = "Create a comprehensive report on magnetic tape";
    const little = done("web_search", { query: "magnetic tape", limit: 20 }, listHits(hits.slice(0, 2)));
    expect(reportLead.next(situation({ task, calls: [little] }))).toEqual({
      calls: ["magnetic", "tape"].map((query) => ({ tool: "web_search", input: { query, limit: 8 } })),
    });
  });

  test("says that nothing was found, and how to have more searched", () => {
    const calls = [done("web_search", { query: "tape", limit: 20 }, "nothing was found")];
    expect(reportLead.next(situation({ calls }))).toEqual({
      cannot: expect.stringMatching(/nothing was found on “tape”.*search\.folders/),
    });
  });
});

describe("the report expert", () => {
  const task = `Create a comprehensive report on tape\n\n## Search results\n${listHits(hits)}`;

  test("reads all pages, saves the corpus, writes both forms and answers with the path", () => {
    const calls: PastCall[] = [];
    const tools: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const move = reportExpert.next(situation({ task, calls }));
      if (!("calls" in move)) throw new Error("it stopped early");
      for (const { tool, input } of move.calls) {
        tools.push(tool);
        calls.push(
          done(
            tool,
            input,
            "Successfully wrote 9 chars to x\nExtractive report: 9 sources.\nKey findings:\n- X [1]",
          ),
        );
      }
    }
    expect(tools).toEqual(["crawl_parallel", "save_corpus", "write_local_file", "write_local_file"]);
    expect(calls[0]?.input).toEqual({ urls: hits.map(({ url }) => url) });
    expect(reportExpert.next(situation({ task, calls }))).toEqual({
      say: expect.stringMatching(/work_products\/tape\.html\. Extractive report: 9 sources\..*- X \[1\]/s),
    });
  });

  test("without a wish for depth takes the results as they are", () => {
    const short = task.replace("comprehensive ", "");
    expect(reportExpert.next(situation({ task: short }))).toMatchObject({
      calls: [
        {
          tool: "save_corpus",
          input: {
            articles: hits.map(({ url, title, snippet }) => ({
              url,
              title,
              content: snippet,
              status: "success",
            })),
          },
        },
      ],
    });
  });

  test("writes nothing if the corpus could not be saved, and says why", () => {
    const move = reportExpert.next(
      situation({ task, calls: [done("crawl_parallel", { urls: hits.map(({ url }) => url) }, "0/9")] }),
    );
    if (!("calls" in move)) throw new Error("it stopped early");
    const [save] = move.calls;
    const calls = [
      done("crawl_parallel", { urls: hits.map(({ url }) => url) }, "0/9"),
      done("save_corpus", save?.input ?? {}, "the disk is full", true),
    ];
    expect(reportExpert.next(situation({ task, calls }))).toEqual({
      cannot: expect.stringContaining("the disk is full"),
    });
  });

  test("needs addresses", () => {
    expect(reportExpert.next(situation({ task: "Make a report" }))).toEqual({
      cannot: expect.stringContaining("URLs"),
    });
  });
});
