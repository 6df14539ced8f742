import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { codeTools } from "@retinue/code/code-tools";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  type Script,
  type Step,
  say,
  type TestRuntimeOptions,
} from "@retinue/core/testing";
import { expect } from "vitest";
import { type Attack, type Outcome, resultsSeen, type World } from "./attack.ts";
import { CANARIES, CANARY_ENV, CANARY_TEXT, expectNoCanary } from "./canaries.ts";

const done = say("done");
const [KEY = ""] = CANARIES;

/** One way in which a secret enters a run. */
type Way = {
  by: string;
  lead: Script;
  more?: Readonly<Record<string, Script>>;
  task?: string;
  options?: (world: World) => TestRuntimeOptions;
  also?: (outcome: Outcome) => void | Promise<void>;
};

/** A secret spelled so that no byte of it shows in JSON. */
const escaped = (text: string) =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const echo = (world: World, text: string) => world.tool("echo", { execute: async () => text });
const needs = (file: string) => ({
  agents: { lead: { deliverables: [{ file, schema: { type: "object" } }] } },
});

const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
};

const WAYS: readonly Way[] = [
  { by: "the task", lead: [(request) => say(request.task)], task: CANARY_TEXT },
  { by: "the model's text", lead: [say(CANARY_TEXT)] },
  {
    by: "the model's data",
    lead: [say(`{"summary":"${escaped(KEY)}","key":"${escaped(KEY)}","warnings":["${escaped(KEY)}"]}`)],
  },
  {
    by: "the model's reasoning",
    lead: [
      {
        kind: "parts",
        parts: [
          { type: "reasoning-start", id: "r" },
          { type: "reasoning-delta", id: "r", delta: CANARY_TEXT },
          { type: "reasoning-end", id: "r", providerMetadata: { scripted: { signature: "s" } } },
          { type: "tool-call", toolCallId: "1", toolName: "echo", input: "{}" },
          FINISH,
        ],
      },
      done,
    ],
    options: (world) => ({ tools: [echo(world, "ok")] }),
    also: ({ t }) => expect(JSON.stringify(t.models.lead?.requests)).not.toContain(KEY),
  },
  {
    by: "the id of a task that is delivered late",
    lead: [
      callDelegateMany(
        [
          { id: KEY, agent: "child", task: "1" },
          { id: "other", agent: "child", task: "2" },
        ],
        { mode: "parallel_streaming" },
      ),
      say("early"),
      done,
    ],
    more: { child: { eachRun: [say("ok")] } },
  },
  {
    by: "a tool's input, which the tool still receives",
    lead: [callTool("echo", { text: CANARY_TEXT, [KEY]: 1 }), done],
    options: (world) => ({ tools: [echo(world, "ok")] }),
    also: ({ world }) => expect(world.ran.get("echo")).toEqual([{ text: CANARY_TEXT, [KEY]: 1 }]),
  },
  {
    by: "a tool's input in the escapes of JSON",
    lead: [callTool("echo", `{"text":"${escaped(KEY)}"}`), done],
    options: (world) => ({ tools: [echo(world, "ok")] }),
    also: async ({ world, t }) => {
      expect(world.ran.get("echo")).toEqual([{ text: KEY }]);
      const { record } = t.runtime;
      const { sessions } = await record.listSessions();
      const rows = (
        await Promise.all(sessions.map(({ session_id: sessionId }) => record.readRows({ sessionId })))
      ).flat();
      expect(
        rows.map((row) => row.request_content ?? "").filter((text) => text.includes(escaped(KEY))),
      ).toEqual([]);
    },
  },
  {
    by: "input that is not JSON",
    lead: [callTool("echo", `{"text": ${CANARY_TEXT}`), done],
    options: (world) => ({ tools: [echo(world, "ok")] }),
  },
  {
    by: "a tool's name and a call's id",
    lead: [
      callTools([
        { tool: KEY, input: {}, id: CANARIES[1] ?? "" },
        { tool: `x ${KEY}`, input: {}, id: KEY },
      ]),
      done,
    ],
  },
  {
    by: "a tool's output",
    lead: [callTool("echo", {}), (request) => say(request.last)],
    options: (world) => ({ tools: [echo(world, CANARY_TEXT)] }),
  },
  {
    by: "an output that becomes a file",
    lead: [callTool("echo", {}), done],
    options: (world) => ({
      tools: [echo(world, `${CANARY_TEXT}\n${"filler ".repeat(10_000)}${CANARY_TEXT}`)],
    }),
    also: ({ t }) => expect(resultsSeen(t, "lead")[0]?.text).toContain("the whole is in"),
  },
  { by: "a report that becomes a file", lead: [say(`${"filler ".repeat(10_000)}${CANARY_TEXT}`)] },
  {
    by: "what a tool throws and tells on the way",
    lead: [callTool("fail", {}), done],
    options: (world) => ({
      tools: [
        world.tool("fail", {
          execute: async (_, context) => {
            context.progress(CANARY_TEXT);
            throw new Error(CANARY_TEXT);
          },
        }),
      ],
    }),
  },
  { by: "an error of the provider", lead: [failWith("auth", CANARY_TEXT)] },
  {
    by: "an error of a child's provider",
    lead: [callDelegate("child", "x"), done],
    more: { child: [failWith("bad_response", CANARY_TEXT)] },
  },
  {
    by: "a delegation: task, criteria, deliverables, id",
    lead: [
      callDelegate("child", CANARY_TEXT, {
        successCriteria: CANARY_TEXT,
        deliverables: [{ file: `${KEY}.md` }],
      }),
      callDelegateMany([{ id: KEY, agent: "child", task: CANARY_TEXT }]),
      callDelegate(KEY, "x"),
      done,
    ],
    more: { child: { eachRun: [(request) => say(request.prompt), say("again")] } },
    also: ({ t }) => expect(JSON.stringify(t.models.child?.requests)).not.toContain(KEY),
  },
  {
    by: "a file that is handed to a child",
    lead: [callDelegate("child", "x", { contextFiles: [".env"] }), done],
    more: { child: [(request) => say(request.task)] },
    options: ({ projectDir }) => {
      writeFileSync(join(projectDir, ".env"), CANARY_TEXT);
      return { tools: codeTools };
    },
  },
  {
    by: "the name of a file that is written",
    lead: [callTool("write", { path: `${KEY}.txt`, content: CANARY_TEXT }), done],
    options: () => ({ tools: codeTools }),
    also: ({ result }) => expect(result.files_created).toHaveLength(1),
  },
  {
    by: "a deliverable that is not valid",
    lead: [callTool("write", { path: "out.json", content: KEY }), done, done],
    options: () => ({ tools: codeTools, ...needs("project:out.json") }),
    also: ({ result }) => expect(result.error?.message).toContain("not valid JSON"),
  },
  {
    by: "an approval, asked for and refused with a note",
    lead: [callTool("write", { path: `${KEY}.txt`, content: CANARY_TEXT }), done],
    options: () => ({
      tools: codeTools,
      agents: { lead: { askTools: ["write"] } },
      approve: async () => ({ allowed: false, by: "a person", note: CANARY_TEXT }),
    }),
    also: ({ t }) => expect(t.events.some((event) => event.type === "approval.settled")).toBe(true),
  },
  {
    by: "a denial that names what was touched",
    lead: [callTool("write", { path: `.git/${KEY}`, content: "x" }), done],
    options: () => ({ tools: codeTools }),
  },
  {
    by: "an agent's own prompt",
    lead: [done],
    options: () => ({ agents: { lead: { prompt: CANARY_TEXT, description: CANARY_TEXT } } }),
  },
];

const SPLIT_SEEDS = process.env.RETINUE_DEEP === "1" ? 500 : 20;

/** The text cut into pieces of random length. */
function pieces(text: string, random: () => number): Step {
  const parts: LanguageModelV4StreamPart[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + Math.floor(random() * 8);
    parts.push({ type: "text-delta", id: "t", delta: text.slice(at, end) });
    at = end;
  }
  parts.push(FINISH);
  return { kind: "parts", parts };
}

/** Secrets are hidden before the first write, whichever way they come. */
export const SECRET_CASES: readonly Attack[] = [
  ...WAYS.map(
    ({ by, lead, more = {}, task = "go", options, also }): Attack => ({
      id: `R1 ${by}`,
      title: "shows no secret in any record, event, file or result",
      guards: ["redactor"],
      setup: (world) => ({
        database: join(world.dataDir, "retinue.db"),
        env: CANARY_ENV,
        ...options?.(world),
      }),
      turns: () => ({ lead, ...more }),
      act: (t) => t.runtime.run({ agent: "lead", task }),
      oracle: async (outcome) => {
        await also?.(outcome);
        await expectNoCanary(outcome);
      },
    }),
  ),
  {
    id: "R2",
    title: "a secret that arrives in pieces is not streamed to anyone who watches",
    guards: ["redactor"],
    seeds: SPLIT_SEEDS,
    setup: (world) => ({ database: join(world.dataDir, "retinue.db"), env: CANARY_ENV }),
    turns: ({ random }) => ({
      lead: [pieces(`Here: ${CANARY_TEXT} and once more ${CANARY_TEXT} end`, random)],
    }),
    oracle: async (outcome) => {
      const streamed = outcome.t.events
        .flatMap((event) => (event.type === "text.streamed" ? [event.text] : []))
        .join("");
      expect(CANARIES.filter((canary) => streamed.includes(canary))).toEqual([]);
      expect(streamed).toBe(outcome.result.details);
      expect(streamed).toMatch(/^Here: keys: .* end$/);
      await expectNoCanary(outcome);
    },
  },
];
