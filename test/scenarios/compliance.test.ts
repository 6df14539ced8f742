import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentInput } from "@retinue/core/agents/define-agent";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { Agent } from "@retinue/core/schema/agent";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  hang,
  type Script,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const CORPUS = JSON.stringify({
  extraction_timestamp: "2026-01-02T03:04:05Z",
  total_articles: 1,
  successful: 1,
  failed: 0,
  articles: [{ url: "https://example.org/", title: "Tape", content: "It lasts.", status: "success" }],
});

/** A tool that leaves one file in the workspace. */
const leaves = (name: string, file: string, content: string): AnyTool =>
  defineTool<object>({
    name,
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async (_, { workspaceDir, changed }) => {
      const path = join(workspaceDir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      changed(path, "created");
      return `wrote ${file}`;
    },
  });

const tools = [
  leaves("save_corpus", "expanded_corpus.json", CORPUS),
  leaves("write_local_file", "work_products/report.html", "<p>The report</p>"),
];
const saveCorpus = callTool("save_corpus", {});
const writeReport = callTool("write_local_file", {});

/** The contract of the built-in expert, as its file has it. */
const EXPERT = "report-creation-expert";
const { deliverables } = await builtIn(EXPERT);

async function builtIn(name: string): Promise<Agent> {
  const file = fileURLToPath(new URL(`../../agents/${name}.md`, import.meta.url));
  const text = readFileSync(file, "utf8");
  const { agent } = await parseAgentFile(text, { file, format: "native", scope: "builtin", known: {} });
  if (!agent) throw new Error(`${file} cannot be used`);
  return agent;
}

const team = (lead: Script, script: Script, more: Partial<AgentInput> = {}): TestRuntime =>
  testRuntime({ lead, [EXPERT]: script }, { tools, agents: { [EXPERT]: { deliverables, ...more } } });

const requestOf = (t: TestRuntime, agent: string, turn: number) =>
  JSON.stringify(t.models[agent]?.requests[turn]?.prompt.at(-1));
const complaints = (t: TestRuntime) =>
  t.events.flatMap((event) => (event.type === "compliance.failed" ? [event.message] : []));

test("an expert that skips save_corpus is kept from writing, is told what is missing, and repairs it in its repair round", async () => {
  await using t = team(
    [callDelegate(EXPERT, "report on tape"), (request) => say(request.last)],
    [writeReport, say("The report is written."), saveCorpus, writeReport, say("Now it is.")],
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(requestOf(t, EXPERT, 1)).toContain("must wait until `expanded_corpus.json` is there and valid");
  expect(requestOf(t, EXPERT, 2)).toContain("`expanded_corpus.json`: no such file");
  expect(result.details).not.toContain("COMPLIANCE ERROR");
  expect(complaints(t)).toEqual([]);
  expect(t.trace()).toEqual(["lead > report-creation-expert: completed", "lead: completed"]);
});

test("one that skips it again fails with a COMPLIANCE ERROR in the parent's next request, and the parent has it repaired", async () => {
  await using t = team(
    [
      callDelegate(EXPERT, "report on tape"),
      callDelegate(EXPERT, "save the corpus, then write the report"),
      say("It is in work_products/report.html."),
    ],
    [say("Written."), say("Really."), saveCorpus, writeReport, say("Both are there.")],
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", success: true });
  expect(requestOf(t, "lead", 1)).toMatch(
    /COMPLIANCE ERROR: report-creation-expert did not leave what its contract demands: `expanded_corpus\.json`.*`work_products\/\*\.html`/,
  );
  expect(requestOf(t, "lead", 2)).not.toContain("COMPLIANCE ERROR");
  expect(complaints(t)).toEqual([expect.stringContaining("COMPLIANCE ERROR: report-creation-expert")]);
  expect(t.trace()).toEqual([
    "lead > report-creation-expert: failed",
    "lead > report-creation-expert: completed",
    "lead: completed",
  ]);
  const { session_id } = result;
  const report = await replaySession(
    { agents: t.runtime.agents, tools, env: {} },
    t.runtime.record,
    session_id,
  );
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test("one that hangs before its work is done times out, and what is missing is named to parent and person", async () => {
  await using t = team(
    [callDelegate(EXPERT, "report on tape"), say("It hung.")],
    (request) => (request.turn === 0 ? saveCorpus : hang()),
    { limits: { minutes: 0.003 } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.trace()).toEqual(["lead > report-creation-expert: timeout", "lead: failed"]);
  const told = requestOf(t, "lead", 1);
  expect(told).toContain('status=\\"timeout\\"');
  expect(told).toMatch(
    /COMPLIANCE ERROR: report-creation-expert .*`work_products\/\*\.html` \(no such file\)\./,
  );
  expect(complaints(t)).toHaveLength(1);
});

test("the error of one child among many survives when the rest of a long answer goes to a file", async () => {
  const ids = ["a", "b", "c", "d"];
  const long = "word ".repeat(5_000);
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([
          ...ids.map((id) => ({ id, agent: "talker", task: id })),
          { id: "e", agent: EXPERT, task: "e" },
          ...ids.map((id) => ({ id: `${id}2`, agent: "talker", task: id })),
        ]),
        say("read"),
      ],
      [EXPERT]: { eachRun: [say("Done."), say("Done.")] },
      talker: { eachRun: [say(long)] },
    },
    { tools, agents: { [EXPERT]: { deliverables } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const told = requestOf(t, "lead", 1);
  expect(told).toContain("characters left out");
  expect(told).toContain(
    "COMPLIANCE ERROR: report-creation-expert did not leave what its contract demands: `expanded_corpus.json`",
  );
});

test("a sibling that was at work already does not repair what another left out, and a replay agrees", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([
          { id: "good", agent: "saver", task: "save" },
          { id: "bad", agent: "saver", task: "talk" },
        ]),
        say("done"),
      ],
      saver: (request) => (request.task.startsWith("save") && request.turn === 0 ? saveCorpus : say("ok")),
    },
    { tools, agents: { saver: { deliverables: [{ file: "expanded_corpus.json" }] } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "failed", success: false, error: { type: "deliverable" } });
  expect(result.unmet).toMatchObject([{ agent: "saver", deliverable: "expanded_corpus.json" }]);
  expect(result.warnings).toEqual([expect.stringMatching(/^COMPLIANCE ERROR: saver/)]);
  const report = await replaySession(
    { agents: t.runtime.agents, tools, env: {} },
    t.runtime.record,
    result.session_id,
  );
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test("what a grandchild left out fails every run above it, and is repaired by the run that leaves the file", async () => {
  const team = (root: Script) =>
    testRuntime(
      {
        lead: root,
        middle: [callDelegate("saver", "save"), say("all fine")],
        saver: [say("saved"), say("really")],
      },
      {
        tools,
        agents: {
          middle: { subagents: { allow: ["saver"] } },
          saver: { deliverables: [{ file: "expanded_corpus.json" }] },
        },
      },
    );
  await using left = team([callDelegate("middle", "see to it"), say("done")]);
  const failed = await left.runtime.run({ agent: "lead", task: "go" });
  expect(left.trace()).toEqual(["lead > middle > saver: failed", "lead > middle: failed", "lead: failed"]);
  expect(requestOf(left, "lead", 1)).toContain("COMPLIANCE ERROR: saver");
  expect(failed.unmet).toMatchObject([{ agent: "saver", deliverable: "expanded_corpus.json" }]);

  await using repaired = team([callDelegate("middle", "see to it"), saveCorpus, say("done")]);
  expect(await repaired.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    status: "completed",
    success: true,
  });
});
