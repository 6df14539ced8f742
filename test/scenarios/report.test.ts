import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInTools } from "@retinue/builtin/built-in-tools";
import { createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { loadProject } from "@retinue/builtin/load-project";
import type { RetinueEvent } from "@retinue/core/schema/event";
import { type Script, scriptedModel } from "@retinue/core/testing/scripted-model";
import { callDelegate, callTool, callTools, type Step, say } from "@retinue/core/testing/step";
import { nameForRun } from "@retinue/core/tools/name-for-run";
import { findExternalLoads } from "@retinue/research/report/write-local-file";
import { expect, test } from "vitest";
import { ARTICLES } from "../fixtures/night-trains.ts";

const EXPERT = "report-creation-expert";

/** The built-in agents and tools over a project whose documents are the articles; agents without a script play by rules. */
async function library(scripts: Readonly<Record<string, Script>> = {}) {
  const root = mkdtempSync(join(tmpdir(), "retinue-report-"));
  const projectDir = join(root, "project");
  mkdirSync(join(projectDir, "articles"), { recursive: true });
  for (const [at, { content }] of ARTICLES.entries())
    writeFileSync(join(projectDir, "articles", `${at + 1}.md`), content);
  const env = { HOME: root, RETINUE_HOME: join(root, "data"), RETINUE_DISCOVER: "0" };
  const { registry, settings } = await loadProject({ projectDir, env });
  const models = Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [name, scriptedModel(name, script)]),
  );
  const agents = registry
    .list()
    .map((agent) => ({ ...agent, model: models[agent.name] ? agent.name : "offline" }));
  const options = {
    agents,
    models,
    tools: builtInTools,
    settings,
    projectDir,
    dataDir: join(root, "data"),
    env,
  };
  const runtime = createBuiltInRuntime(options);
  const events: RetinueEvent[] = [];
  runtime.events((event) => events.push(event));
  return {
    runtime,
    models,
    workspace: () =>
      join(root, "data", "sessions", events.find(({ type }) => type === "session.started")?.sessionId ?? ""),
    results: () =>
      events.flatMap((event) =>
        event.type === "run.ended" ? [`${event.result.agent}: ${event.result.status}`] : [],
      ),
    events,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

test("without a model a comprehensive report is searched for, delegated, extracted, saved, written and replayed", async () => {
  await using t = await library();
  const task = "Create a comprehensive report on night trains";
  const result = await t.runtime.run({ agent: "main", task });
  expect(t.results()).toEqual([`${EXPERT}: completed`, "main: completed"]);
  const corpus = JSON.parse(readFileSync(join(t.workspace(), "expanded_corpus.json"), "utf8"));
  expect(corpus).toMatchObject({ total_articles: 6, successful: 6, failed: 0 });
  expect(corpus.articles[0]).toMatchObject({ status: "success", content: expect.stringContaining("night") });
  const pages = readdirSync(join(t.workspace(), "search_results"));
  expect(pages.filter((name) => name.endsWith(".md"))).toHaveLength(6);
  const path = join(t.workspace(), "work_products", "night-trains.html");
  const html = readFileSync(path, "utf8");
  expect(await findExternalLoads(html)).toEqual([]);
  expect(html).toContain("Where sources differ");
  expect(html).toContain("Extractive: made by rules, no model");
  expect(readFileSync(path.replace(/html$/, "md"), "utf8")).toMatch(/^# Night trains/);
  expect(result.details).toContain(`Report: ${path}`);
  expect(result.details).toMatch(/6 sources.*Key findings:\n- .*\[\d\]/s);
  expect(html).toMatch(/local document articles\/\d\.md ·/);
  expect(html).not.toMatch(/local document \/|127\.0\.0\.1/);
  expect(result.warnings).toEqual([]);
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ identical: true, divergence: null });
});

test("the expert knows the day and the workspace, and cannot write before the corpus is there", async () => {
  const report = {
    path: "work_products/trains.html",
    content: "<!DOCTYPE html><title>Trains</title><p>Night trains.",
  };
  await using t = await library({
    main: [callDelegate(EXPERT, "A report on night trains"), (request) => say(request.last)],
    [EXPERT]: [
      callTool("write_local_file", report),
      (request) => {
        expect(request.last).toContain(
          "must wait until `expanded_corpus.json` is there and valid: no such file; call save_corpus first, which makes it",
        );
        const articles = [
          { url: "https://trains.example/", title: "Trains", content: "They run.", status: "success" },
        ];
        return callTool("save_corpus", { articles });
      },
      callTool("write_local_file", report),
      (request) => say(request.last),
    ],
  });
  const result = await t.runtime.run({ agent: "main", task: "Get me a report on night trains" });
  expect(t.results()).toEqual([`${EXPERT}: completed`, "main: completed"]);
  expect(result.details).toContain("Successfully wrote 52 chars to work_products/trains.html");
  const system = JSON.stringify(t.models[EXPERT]?.requests[0]?.prompt[0]);
  expect(system).toContain(`CURRENT_SESSION_WORKSPACE: ${t.workspace()}`);
  expect(system).toMatch(/Today is \w+day, \w+ \d+, \d{4}\./);
  const tools = t.models[EXPERT]?.requests[0]?.tools?.map(({ name }) => name);
  expect(tools?.toSorted()).toEqual(
    [
      "crawl_parallel",
      "save_corpus",
      "write_local_file",
      "workbench_download",
      "workbench_upload",
    ].toSorted(),
  );
});

test("an expert that leaves no report fails, and its parent and the person read which file is missing", async () => {
  await using t = await library({
    main: [callDelegate(EXPERT, "A report on night trains"), (request) => say(request.last)],
    [EXPERT]: [say("The report is finished."), say("It really is.")],
  });
  const result = await t.runtime.run({ agent: "main", task: "Get me a report on night trains" });
  expect(result.details).toMatch(/COMPLIANCE ERROR.*expanded_corpus\.json.*work_products\/\*\.html/s);
  expect(t.events).toContainEqual(
    expect.objectContaining({
      type: "compliance.failed",
      message: expect.stringContaining("work_products/*.html"),
    }),
  );
});

/** A corpus of one page, and a report that only this page bears out. */
function research(topic: string, figure: number) {
  const [url, said] = [`https://${topic}.example/`, `They counted ${figure} ${topic} in 2025.`];
  const articles = [{ url, title: topic, content: said, status: "success" }];
  const report = {
    title: topic,
    summary: [`${said} [1]`],
    themes: [{ heading: topic, paragraphs: [`${said} [1]`] }],
    figures: [{ value: String(figure), about: topic, sources: [1] }],
    quotes: [{ text: said, speaker: "Ada", role: "counts", source: 1 }],
  };
  const save = { tool: "save_corpus", input: { articles } };
  const write = { tool: "write_local_file", input: { path: "work_products/report.html", report } };
  return { url, said, save, write };
}

/** What two experts did that wrote under the same names, by the figure of their report. */
async function expectTwoReports(
  t: Awaited<ReturnType<typeof library>>,
  topics: readonly ReturnType<typeof research>[],
) {
  const experts = t.events.flatMap((event) =>
    event.type === "run.ended" && event.result.agent === EXPERT ? [event.result] : [],
  );
  expect(experts).toHaveLength(2);
  for (const { success, deliverables, run_id, details } of experts) {
    expect([success, deliverables.map(({ ok }) => ok)]).toEqual([true, [true, true]]);
    const [corpus = "", report = ""] = deliverables.flatMap(({ files }) => files);
    const names = ["expanded_corpus.json", "work_products/report.html"];
    // Of two at the same time, each may have been the first with one of its files.
    for (const [index, file] of [corpus, report].entries()) {
      const name = names[index] ?? "";
      expect([name, nameForRun(name, run_id)]).toContain(file);
    }
    const topic = topics.find(({ said }) => details.includes(said));
    const { articles } = JSON.parse(readFileSync(join(t.workspace(), corpus), "utf8"));
    expect(articles.map(({ url }: { url: string }) => url)).toEqual([topic?.url]);
    const html = readFileSync(join(t.workspace(), report), "utf8");
    for (const { said } of topics) expect(html.includes(said)).toBe(said === topic?.said);
  }
  const files = experts.flatMap(({ deliverables }) => deliverables.flatMap((one) => one.files));
  expect(new Set(files).size).toBe(4);
  expect(files).toContain("expanded_corpus.json");
  expect(files).toContain("work_products/report.html");
}

const trains = research("trains", 4711);
const ships = research("ships", 815);
/** Saves and writes in one turn; a second time, because a report may be made again. */
const expert: Script = ({ turn, task }) => {
  const own = task.includes("trains") ? trains : ships;
  const both = callTools([own.save, own.write]);
  return [both, both, say(`Done: ${own.said}`)][turn] ?? say("?");
};

test.each([
  [
    "one after the other",
    [callDelegate(EXPERT, "A report on trains"), callDelegate(EXPERT, "A report on ships")],
  ],
  [
    "at the same time",
    [
      callTools([
        { tool: "delegate", input: { agent: EXPERT, task: "A report on trains" } },
        { tool: "delegate", input: { agent: EXPERT, task: "A report on ships" } },
      ]),
    ],
  ],
] satisfies readonly (readonly [string, readonly Step[]])[])(
  "two experts of one session, %s, have each their own corpus and report",
  async (_, steps) => {
    await using t = await library({ main: [...steps, say("Both are done.")], [EXPERT]: expert });
    const result = await t.runtime.run({ agent: "main", task: "Get me two reports" });
    expect(result.success).toBe(true);
    await expectTwoReports(t, [trains, ships]);
    const told = t.events.flatMap((event) => (event.type === "call.ended" ? [event.summary] : [])).join("\n");
    expect(told).toContain("because work_products/report.html belongs to another run of this session");
    expect(await t.runtime.replay(result.session_id)).toMatchObject({ identical: true });
  },
);

test("an expert can neither write from another's corpus nor end with another's files", async () => {
  let told = "";
  await using t = await library({
    main: [
      callDelegate(EXPERT, "A report on trains"),
      callDelegate(EXPERT, "A report on ships"),
      say("One is done."),
    ],
    [EXPERT]: (request) => {
      const isFirst = request.task.includes("trains");
      if (!isFirst && request.turn === 1) told = request.last;
      const steps = [
        callTools(isFirst ? [trains.save, trains.write] : [trains.write]),
        say("Done."),
        say("Done."),
      ];
      return steps[request.turn] ?? say("Done.");
    },
  });
  await t.runtime.run({ agent: "main", task: "Get me two reports" });
  expect(told).toMatch(/must wait until `expanded_corpus.json` is there and valid: another run made it/);
  expect(t.results().slice(0, 2)).toEqual([`${EXPERT}: completed`, `${EXPERT}: failed`]);
});

test("without a model two reports on one topic at the same time have each their own files", async () => {
  await using t = await library({
    main: [
      callTool("web_search", { query: "night trains" }),
      ({ last }) => {
        const task = `A comprehensive report on night trains\n\n## Search results\n${last}`;
        return callTools(
          ["", "\n"].map((end) => ({ tool: "delegate", input: { agent: EXPERT, task: task + end } })),
        );
      },
      say("Both are done."),
    ],
  });
  const result = await t.runtime.run({ agent: "main", task: "Get me two reports on night trains" });
  expect(result.success).toBe(true);
  const experts = t.events.flatMap((event) =>
    event.type === "run.ended" && event.result.agent === EXPERT ? [event.result] : [],
  );
  const files = experts.map(({ deliverables }) => deliverables.flatMap((one) => one.files));
  expect(new Set(files.flat()).size).toBe(4);
  for (const [at, { success, details, files_created }] of experts.entries()) {
    expect(success).toBe(true);
    for (const file of files[at] ?? []) expect(details).toContain(file);
    expect(files_created.filter((path) => path.includes("search_results"))).toHaveLength(6);
  }
});

test("a report is checked against the corpus that was saved before it in the same turn", async () => {
  const answers: string[] = [];
  await using t = await library({
    main: [callDelegate(EXPERT, "A report on trains"), say("Done.")],
    [EXPERT]: [
      callTools([trains.save, trains.write]),
      callTools([ships.save, ships.write, trains.write]),
      say("Done."),
    ],
  });
  t.runtime.events((event) => {
    if (event.type === "call.ended" && event.tool === "write_local_file") answers.push(event.summary);
  });
  await t.runtime.run({ agent: "main", task: "Get me a report on trains" });
  expect(answers).toEqual([
    expect.stringMatching(/^Successfully wrote/),
    expect.stringMatching(/^Successfully wrote/),
    expect.stringMatching(/^the report was not written:/),
  ]);
});

test("what a parent owes counts from the run below it that made it, whatever its name", async () => {
  await using t = await library({
    main: ({ turn, task }) => (turn === 0 ? callDelegate(EXPERT, task) : say("It is done.")),
    [EXPERT]: expert,
  });
  const session = await t.runtime.openSession();
  const deliverables = [{ file: "expanded_corpus.json" }, { file: "work_products/report.html" }];
  const results = await session.fanOut([
    ["main", "A report on trains", { deliverables }],
    ["main", "A report on ships", { deliverables }],
  ]);
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
  const files = results.flatMap((result) => result.deliverables.flatMap((one) => one.files));
  expect(new Set(files).size).toBe(4);
  await session.close();
});
