import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { externalLoads } from "../../src/packs/research/report/external-loads.ts";
import { builtInTools } from "../../src/runtime/project/built-in-tools.ts";
import { loadProject } from "../../src/runtime/project/load-project.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import type { RetinueEvent } from "../../src/schema/event.ts";
import { type Script, scriptedModel } from "../../src/testing/scripted-model.ts";
import { callDelegate, callTool, say } from "../../src/testing/step.ts";
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
    .map((agent) => ({ ...agent, model: models[agent.name] ? agent.name : agent.model }));
  const options = {
    agents,
    models,
    tools: builtInTools,
    settings,
    projectDir,
    dataDir: join(root, "data"),
    env,
  };
  const runtime = createRuntime(options);
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
  expect(await externalLoads(html)).toEqual([]);
  expect(html).toContain("Where sources differ");
  expect(html).toContain("Extractive: made by rules, no model");
  expect(readFileSync(path.replace(/html$/, "md"), "utf8")).toMatch(/^# Night trains/);
  expect(result.details).toContain(`Report: ${path}`);
  expect(result.details).toMatch(/6 sources.*Key findings:\n- .*\[\d\]/s);
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
        expect(request.last).toContain("must wait until `expanded_corpus.json` is there and valid");
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
