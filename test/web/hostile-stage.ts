import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import type { World } from "../cli/world.ts";
import { hostileReport } from "../fixtures/hostile-texts.ts";
import { step } from "../fixtures/plans.ts";
import { type MadeRun, writeSession } from "../fixtures/recorded-session.ts";

/** The address that anything which loads or sends something would ask; nothing may. */
export type Canary = AsyncDisposable & { url: string; hits: string[] };

/** Opens one. It answers everything, so that a client that asks would continue. */
export async function openCanary(): Promise<Canary> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/javascript" });
    response.end("window.pwned=1");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Texts in sessions of a few runs each, so that every screen can show all of them. */
export const IN_A_SESSION = 12;

/** The sessions that `recordHostile` writes. */
export function sessionsFor(texts: readonly string[]): { sessionId: string; runIds: string[] }[] {
  const count = Math.ceil(texts.length / IN_A_SESSION);
  return Array.from({ length: count }, (_, at) => {
    const sessionId = `ses_bad${at}`;
    const size = Math.min(IN_A_SESSION, texts.length - at * IN_A_SESSION);
    const below = Array.from({ length: size }, (_run, index) => `run_${sessionId}_0_${index}`);
    return { sessionId, runIds: [`run_${sessionId}_0`, ...below] };
  });
}

/** Writes everything that a record can hold: in every field one of the texts. */
export async function recordHostile(world: World, texts: readonly string[], canary: string): Promise<void> {
  mkdirSync(world.data, { recursive: true });
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  for (const [at, { sessionId }] of sessionsFor(texts).entries()) {
    const own = texts.slice(at * IN_A_SESSION, (at + 1) * IN_A_SESSION);
    const workspace = join(world.data, "sessions", sessionId);
    const root = {
      ...hostileRun(own[0] ?? "", 0),
      to: 90_000,
      files: own.map((text) => join(workspace, fileName(text))),
    };
    await writeSession(record, {
      sessionId,
      title: own.join(" "),
      project: world.project,
      workspace,
      startedAtMs: Date.now() - 3_600_000,
      runs: [{ ...root, answer: own.join("\n\n"), runs: own.map((text, index) => hostileRun(text, index)) }],
    });
  }
  await reportHostile(record, world, canary);
  await askHostile(record, world, texts);
  await record.addPlan(hostilePlan(world, texts));
  await record.close();
}

/** A session with a report that tries to break out of the frame it is shown in. */
async function reportHostile(record: Record, world: World, canary: string): Promise<void> {
  const workspace = join(world.data, "sessions", "ses_report");
  mkdirSync(workspace, { recursive: true });
  const file = join(workspace, "report.html");
  writeFileSync(file, hostileReport(canary));
  const run = { agent: "main", task: "report", from: 0, to: 9, files: [file] };
  await writeSession(record, {
    sessionId: "ses_report",
    title: "report",
    project: world.project,
    workspace,
    runs: [run],
  });
}

const fileName = (text: string) => `${text.replaceAll(/[/\0\ud800-\udfff]/g, "").slice(0, 100)}.html`;

function hostileRun(text: string, index: number): MadeRun {
  const from = 1_000 + index * 500;
  return {
    agent: text,
    model: text,
    task: text,
    message: `${text}\n\n# ${text}\n- ${text}\n\`\`\`\n${text}`,
    from,
    to: from + 400,
    answer: `# ${text}\n\n**${text}** \`${text}\`\n\n1. ${text}\n\n${text}`,
    files: [text],
    calls: [
      { tool: text, input: { [text]: text }, from: from + 10, to: from + 20, outcome: "error", output: text },
      { tool: "write", input: { path: text, content: text }, from: from + 30, to: from + 40, output: text },
    ],
    ...(index % 2 === 0 && { error: text, status: "failed" as const }),
    ...(index % 3 === 0 && { bailout: text }),
    metadata: { purpose: text, approvedBy: text },
  };
}

/** Questions that nobody has answered, and one that somebody has. */
async function askHostile(record: Record, world: World, texts: readonly string[]): Promise<void> {
  const all = texts.join("\n");
  const sessionId = "ses_asks";
  await writeSession(record, {
    sessionId,
    title: all,
    project: world.project,
    workspace: world.project,
    status: "running",
    runs: [{ agent: "main", task: all, from: 0 }],
  });
  const targets = texts.map((text) => ({ kind: "path", path: text, name: text, host: text }));
  const inputs = [
    { path: "notes.txt", content: all },
    { command: all },
    { [all]: { recipients: texts, body: all } },
  ];
  for (const [index, input] of inputs.entries()) {
    const approvalId = `apr_bad${index}`;
    await record.addApproval({
      approvalId,
      sessionId,
      runId: `run_${sessionId}_0`,
      callId: `call_${index}`,
      tool: index === 0 ? "write" : (texts[index] ?? ""),
      inputHash: approvalId,
      request: { input, presented: all, risk: "high", reason: all, chain: texts, targets, tainted: true },
      requestedAtMs: Date.now() - 1_000 * index,
    });
  }
  await record.answerApproval("apr_bad2", { allowed: false, by: all, note: all, atMs: Date.now() });
}

function hostilePlan({ project }: World, texts: readonly string[]): ExecutionPlan {
  const all = texts.join("\n");
  const steps = texts.slice(0, 30).map((text, index) =>
    step(`s${index}`, index > 2 ? [`s${index - 3}`] : [], {
      title: text.slice(0, 300),
      role: text.slice(0, 100),
      task: all.slice(0, 20_000),
      files: [text.slice(0, 1_000)],
      successCriteria: [text.slice(0, 2_000)],
    }),
  );
  return {
    id: "plan_bad",
    version: 1,
    status: "failed",
    goal: all.slice(0, 20_000),
    summary: all.slice(0, 5_000),
    steps,
    agent: texts[0] ?? "",
    project,
    createdAtMs: Date.now(),
    updatedAtMs: Date.now(),
    planning: { sessionId: "ses_bad0", toolCalls: 1 },
    executionSessionId: null,
    results: steps.map(({ id, title, role }, index) => ({
      step_id: id,
      title,
      role,
      status: "failed",
      success: false,
      reason: texts[index] ?? "",
    })),
  };
}

/** Agent files whose every field is one of the texts; the last ones are broken. Gives the names of all. */
export function writeHostileAgents(world: World, texts: readonly string[]): string[] {
  const words = texts.map((text) => JSON.stringify(text.toWellFormed()));
  const word = (index: number) => words[index % words.length] ?? '""';
  const names: string[] = [];
  for (let at = 0; at < words.length; at += 6) {
    const name = `bad-${at}`;
    names.push(name);
    const lines = [
      `name: ${name}`,
      `description: ${word(at)}`,
      `display: { name: ${word(at + 1)}, icon: ${word(at + 2)}, color: ${word(at + 3)} }`,
      `aliases: [${word(at + 4)}]`,
      `tools: [read, ${word(at + 5)}, "shell(${name} *)"]`,
      `askTools: [${word(at + 2)}]`,
      `subagents: { allow: [${word(at)}, "bad-*"], deny: [${word(at + 1)}] }`,
      `${word(at)}: ${word(at + 1)}`,
    ];
    const prompt = texts.slice(at, at + 6).join("\n\n");
    world.write(`.retinue/agents/${name}.md`, `---\n${lines.join("\n")}\n---\n${prompt.toWellFormed()}\n`);
  }
  for (const [index, text] of texts.slice(0, 8).entries()) {
    const name = `broken-${index}`;
    names.push(name);
    world.write(
      `.retinue/agents/${name}.md`,
      `---\nname: ${name}\nmodel: [${text}\n: ${text}\n---\n${text}\n`,
    );
  }
  const named = "<img src=x onerror=window.pwned=1>";
  world.write(`.retinue/agents/${named}.md`, "---\nname: [\n---\n");
  world.write(".retinue/settings.json", JSON.stringify({ [texts[0] ?? ""]: texts[1] }));
  return names;
}
