import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { type AgentInput, defineAgent } from "@retinue/core/agents/define-agent";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { Agent } from "@retinue/core/schema/agent";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { type ModelServer, startModel } from "../cli/model.ts";
import { seeded } from "./attack.ts";

const KILLS = process.env.RETINUE_DEEP === "1" ? 200 : 3;
const SEED = 11;
const source = (path: string) => JSON.stringify(new URL(`../../packages/${path}`, import.meta.url).href);

/**
 * The reference run in a process of its own: a lead, three workers at once, one of them with a child below it, files
 * written and payments made. Prints each event that is said to be on disk; resumes what is open, if anything is.
 */
const CHILD = `
import { appendFileSync, existsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, defineAgent, defineTool, codeTools } from ${source("builtin/src/index.ts")};
const [, folder, url] = process.argv;
const pay = defineTool({ name: "pay", description: "x", input: { type: "object" }, replay: "never",
  execute: async (_, { runId, callId }) => (appendFileSync(join(folder, "payments"), runId + " " + callId + "\\n"), "paid") });
const agent = (name, more) => defineAgent({ name, description: name, prompt: "You are " + name + ".", ...more });
const runtime = createRuntime({
  agents: [agent("lead", { subagents: ["worker"] }), agent("worker", { subagents: ["helper"] }), agent("helper", {})],
  tools: [...codeTools, pay], model: "local/mock", dataDir: join(folder, "data"), projectDir: folder,
  env: { HOME: folder, RETINUE_BASE_URL: url, RETINUE_MODEL: "mock" },
});
runtime.events((event) => {
  if (event.seq !== undefined) writeSync(1, event.sessionId + " " + event.seq + "\\n");
});
const { sessions } = await runtime.record.listSessions();
let begun;
for (const session of sessions)
  if ((await runtime.record.readRows({ sessionId: session.session_id, kind: "runs" })).length > 0) begun ??= session;
const goOn = async () => {
  if (!begun) return (await runtime.start({ agent: "lead", task: "the task" })).result;
  if (begun.status === "running") return (await runtime.resume(begun.session_id)).result;
  const [root] = await runtime.record.readRows({ sessionId: begun.session_id });
  return { status: root.status, details: root.response_content };
};
const result = await goOn();
await runtime.close();
writeSync(1, "RESULT " + JSON.stringify(result) + "\\n");
`;

/** What the model says to whom; each request is counted by who asks what at which turn. */
async function referenceModel(asked: Map<string, number>): Promise<ModelServer> {
  return startModel((request) => {
    const who = /You are (\w+)\./.exec(request.system)?.[1] ?? "?";
    const task =
      String(request.messages.find((message) => message.role === "user")?.content).split("\n")[0] ?? "";
    const key = `${who} ${task} ${request.turn}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    if (who === "lead") {
      const tasks = ["a", "b", "c"].map((id) => ({ id, agent: "worker", task: `part ${id}` }));
      return request.turn === 0
        ? { calls: [{ name: "delegate_many", input: { tasks } }] }
        : { text: `All done: ${request.last}` };
    }
    if (who === "helper") {
      return request.turn === 0 ? { calls: [{ name: "pay", input: {} }] } : { text: "helper is done" };
    }
    if (request.turn === 0) {
      const write = { name: "write", input: { path: `${task.replace(" ", "-")}.txt`, content: task } };
      return { calls: [write, { name: "pay", input: {} }] };
    }
    if (request.turn === 1 && task === "part b")
      return { calls: [{ name: "delegate", input: { agent: "helper", task: "help b" } }] };
    return { text: `${task} is done` };
  });
}

type Life = { acknowledged: string[]; result: { status: string; details: string } | null };

/** Runs the child; kills it once it has acknowledged `events`, if it gets that far. */
function live(folder: string, url: string, events: number): Promise<Life> {
  const child = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", CHILD, folder, url],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.split("\n").length > events) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code !== null && code !== 0) return reject(new Error(`the child ended with ${code}`));
      const lines = output.split("\n").slice(0, -1);
      const last = lines.find((line) => line.startsWith("RESULT "));
      resolve({
        acknowledged: lines.filter((line) => !line.startsWith("RESULT ")),
        result: last ? JSON.parse(last.slice(7)) : null,
      });
    });
  });
}

test(`a run that is killed again and again always completes, pays no finished turn twice, repeats no effect and can be replayed (${KILLS} kills)`, async () => {
  const random = seeded(SEED);
  for (let kills = 0; kills < KILLS; ) {
    const folder = mkdtempSync(join(tmpdir(), "retinue-kill-"));
    const asked = new Map<string, number>();
    const model = await referenceModel(asked);
    const acknowledged: string[] = [];
    let result: Life["result"] = null;
    let answered = new Map<string, number>();
    for (let lives = 0; !result && lives < 12; lives++) {
      const untilKilled =
        lives < 5 && kills < KILLS ? 1 + Math.floor(random() * 30) : Number.POSITIVE_INFINITY;
      const before = new Map(asked);
      const life = await live(folder, model.url, untilKilled);
      if (!life.result) kills++;
      for (const [key, turns] of answered) {
        expect(
          (asked.get(key) ?? 0) - (before.get(key) ?? 0),
          `${key} was answered ${turns} times before`,
        ).toBe(0);
      }
      acknowledged.push(...life.acknowledged);
      result = life.result;
      answered = await answeredTurns(folder, acknowledged);
    }
    expect(result).toMatchObject({ status: "completed" });
    for (const part of ["a", "b", "c"]) {
      expect(result?.details).toContain(`part ${part} is done`);
      expect(readFileSync(join(folder, `part-${part}.txt`), "utf8")).toBe(`part ${part}`);
    }
    const payments = paymentsIn(folder);
    expect(new Set(payments).size).toBe(payments.length);
    await expectReplay(folder, model);
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 3_600_000);

function paymentsIn(folder: string): string[] {
  const file = join(folder, "payments");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

/** The session is replayed from its record alone, and a prompt that was changed since is the first divergence. */
async function expectReplay(folder: string, model: ModelServer): Promise<void> {
  const record = createSqliteRecord({ path: join(folder, "data", "retinue.db") });
  const [session] = (await record.listSessions()).sessions.filter(
    async ({ session_id }) => (await record.readRows({ sessionId: session_id, kind: "runs" })).length > 0,
  );
  const payments = paymentsIn(folder);
  const asked = model.requests.length;
  const pay = defineTool<object>({
    name: "pay",
    description: "x",
    input: { type: "object" },
    execute: neverAgain,
  });
  const replay = (helper: string) =>
    replaySession(
      { agents: referenceAgents(helper), tools: [...codeTools, pay], env: { HOME: folder } },
      record,
      session?.session_id ?? "",
    );
  expect(await replay("You are helper.")).toMatchObject({ identical: true, divergence: null, runs: 5 });
  expect(await replay("You are another.")).toMatchObject({
    identical: false,
    divergence: {
      run: "lead > worker > helper",
      turn: 1,
      what: "the system prompt",
      recorded: expect.stringContaining("You are helper."),
      now: expect.stringContaining("You are another."),
    },
  });
  expect(model.requests).toHaveLength(asked);
  expect(paymentsIn(folder)).toEqual(payments);
  await record.close();
}

/** The agents of the reference run, as they are defined in its process. */
function referenceAgents(helper: string): Agent[] {
  const agent = (name: string, more: Partial<AgentInput> = {}) =>
    defineAgent({ name, description: name, prompt: `You are ${name}.`, ...more });
  return [
    agent("lead", { subagents: ["worker"] }),
    agent("worker", { subagents: ["helper"] }),
    agent("helper", { prompt: helper }),
  ];
}

async function neverAgain(): Promise<string> {
  throw new Error("a replay makes no calls");
}

/** Turns whose reply is on disk, by the key under which the model counts them; checks that nothing acknowledged is lost. */
async function answeredTurns(folder: string, acknowledged: readonly string[]): Promise<Map<string, number>> {
  const record = createSqliteRecord({ path: join(folder, "data", "retinue.db") });
  const answered = new Map<string, number>();
  for (const session of (await record.listSessions()).sessions) {
    const rows = await record.readRows({ sessionId: session.session_id });
    const seqs = new Set(rows.flatMap((row) => [row.opened_seq, row.closed_seq]));
    const told = acknowledged
      .filter((line) => line.startsWith(session.session_id))
      .map((line) => Number(line.split(" ")[1]));
    expect(told.filter((seq) => !seqs.has(seq))).toEqual([]);
    const runs = new Map(
      rows.filter((row) => row.request_type !== "continuation").map((row) => [row.run_id, row]),
    );
    for (const row of rows) {
      if (row.request_type !== "continuation" || row.status !== "completed") continue;
      const run =
        rows.find((each) => each.run_id === row.run_id && each.id === row.parent_message_id) ??
        runs.get(row.run_id);
      const { turn } = JSON.parse(row.metadata_json ?? "{}");
      const key = `${row.agent_role} ${run?.request_content?.split("\n")[0]} ${turn - 1}`;
      answered.set(key, (answered.get(key) ?? 0) + 1);
    }
  }
  void record.close();
  return answered;
}
