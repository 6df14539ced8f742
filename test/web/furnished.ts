import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import type { Browser } from "playwright-core";
import { step } from "../fixtures/plans.ts";
import { type MadeRun, writeSession } from "../fixtures/recorded-session.ts";
import { type Served, serve, type Visitor, visit } from "./served.ts";
import { makeTeam, type Team } from "./team.ts";

const MAIL = { recipients: ["ruth@acme.example"], subject: "Tuesday", body: "Two o'clock works." };

/** A server with something on every screen, and what is under way in it. */
export type Furnished = AsyncDisposable & {
  team: Team;
  served: Served;
  /** Starts a task and gives its session. */
  start(agent: string, task: string): Promise<string>;
  /** Lets another browser in. */
  enter(browser: Browser, options?: Parameters<typeof visit>[2]): Promise<Visitor>;
};

/** Opens one: a recorded session with failures, many sub-agents and files, a plan, agents sound and broken. */
export async function furnish(browser: Browser): Promise<Furnished> {
  const team = await makeTeam(({ turn, last }, agent) => {
    if (agent === "messenger")
      return turn === 0 ? { calls: [{ name: "gmail_send_email", input: MAIL }] } : { text: `Told: ${last}` };
    if (agent === "writer")
      return turn === 0
        ? { calls: [{ name: "write", input: { path: "notes.txt", content: "first line\n" } }] }
        : { text: "Written." };
    return undefined;
  });
  const { world } = team;
  world.agent("messenger", "tools: [gmail_send_email]");
  world.agent("writer", "tools: [write, read]\naskTools: [write]\ndisplay: { icon: ✍️, color: teal }");
  world.agent("ring-a", "subagents: { allow: [ring-b] }");
  world.agent("ring-b", "subagents: { allow: [ring-a], recursive: true }");
  world.write(".retinue/agents/broken.md", "---\nname: broken\ntools: [read\n: x\n---\nx\n");
  await record(world.data, world.project);
  const served = await serve(world, 0, ["--agent", "lead"]);
  const first = await visit(browser, served);
  const post = async <Answer>(path: string, data: object) => {
    const answer = await first.page.request.post(`${served.url}${path}`, {
      data,
      headers: { origin: served.url },
      // A connection that was idle may just be closed by the server.
      maxRetries: 2,
    });
    return (await answer.json()) as Answer;
  };
  return {
    team,
    served,
    start: async (agent, task) =>
      (await post<{ sessionId: string }>("/api/sessions", { agent, task })).sessionId,
    enter: async (other, options) =>
      visit(other, { ...served, link: (await post<{ url: string }>("/api/links", {})).url }, options),
    async [Symbol.asyncDispose]() {
      await first.context.close();
      await served.stop();
      await team[Symbol.asyncDispose]();
    },
  };
}

async function record(data: string, project: string): Promise<void> {
  mkdirSync(data, { recursive: true });
  const record = createSqliteRecord({ path: join(data, "retinue.db") });
  const workspace = join(data, "sessions", "ses_done");
  const part = (index: number): MadeRun => ({
    agent: ["coder", "reviewer", "tester"][index % 3] ?? "coder",
    task: `part ${index} of the work`,
    from: 1_000 + index * 100,
    to: 6_000 + index * 300,
    answer:
      "| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst x = 1;\n```\n\nSee [the page](https://example.org).",
    files: [join(workspace, "report.html"), "src/a.ts"],
    calls: [
      { tool: "read", input: { path: "src/a.ts" }, from: 2_000, to: 2_100, output: "export {};" },
      {
        tool: "shell",
        input: { command: "npm test" },
        from: 2_200,
        to: 3_000,
        outcome: "error",
        output: "1 failed",
      },
    ],
    ...(index === 2 && { status: "failed" as const, error: "1 of 3 failed" }),
    ...(index === 4 && { status: "cancelled" as const, bailout: "stopped by the person" }),
    ...(index === 5 && { partial: true, attempt: 1 }),
    ...(index === 0 && { runs: [{ agent: "tester", task: "look once more", from: 3_100, to: 5_000 }] }),
  });
  await writeSession(record, {
    sessionId: "ses_done",
    title: "Fix the cart and show how",
    project,
    workspace,
    startedAtMs: Date.now() - 86_400_000,
    runs: [
      {
        agent: "main",
        task: "Fix the cart and show how",
        from: 0,
        to: 9_000,
        answer: "## Done\n\n- **one** and `two`\n- [x] three\n\n> said so",
        runs: Array.from({ length: 8 }, (_, index) => part(index)),
      },
    ],
  });
  await writeSession(record, {
    sessionId: "ses_again",
    title: "Look at the cart again",
    project,
    startedAtMs: Date.now() - 90_000_000,
    runs: [
      {
        agent: "main",
        task: "Look at the cart again",
        from: 0,
        to: 4_000,
        answer: "## Done\n\n- **one** and `three`",
        files: ["src/b.ts"],
        runs: [{ ...part(0), status: "timeout" }, part(3)],
      },
    ],
  });
  await record.addPlan(planOf(project));
  await record.close();
}

function planOf(project: string): ExecutionPlan {
  return {
    id: "plan_cart",
    version: 1,
    status: "draft",
    goal: "Fix the cart",
    summary: "Look, change, try.",
    steps: [
      step("look"),
      step("change", ["look"], { role: "writer", files: ["src/a.ts"] }),
      step("try", ["change"]),
    ],
    agent: "lead",
    project,
    createdAtMs: Date.now(),
    updatedAtMs: Date.now(),
    planning: { sessionId: "ses_done", toolCalls: 3 },
    executionSessionId: null,
    results: [],
  };
}
