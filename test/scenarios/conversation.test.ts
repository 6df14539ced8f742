import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTree } from "@retinue/core/record/read-tree";
import { replaySession } from "@retinue/core/replay/replay-session";
import { callTool, hang, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const mail = defineTool<object>({
  name: "mail",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  untrusted: true,
  execute: async () => "text from outside",
});

test("a second task goes on with the conversation, in the same session and its record", async () => {
  const prompts: string[] = [];
  await using t = testRuntime({
    lead: ({ prompt, turn }) => {
      prompts.push(prompt);
      return say(["It is 4.", "Twice that is 8.", "Half of that is 4."][turn] ?? "?");
    },
  });
  const first = await t.runtime.run({ agent: "lead", task: "What is 2 + 2?" });
  const session = first.session_id;
  const second = await t.runtime.run({ agent: "lead", task: "And twice that?", session });
  const third = await t.runtime.run({ agent: "lead", task: "And half of that?", session });
  expect([second.session_id, third.session_id]).toEqual([session, session]);
  expect(third.summary).toBe("Half of that is 4.");
  for (const said of [
    "What is 2 + 2?",
    "It is 4.",
    "And twice that?",
    "Twice that is 8.",
    "And half of that?",
  ])
    expect(prompts[2]).toContain(said);
  const roots = await readTree(t.runtime.record, session);
  expect(roots.map((root) => root.request_content)).toEqual([
    "What is 2 + 2?",
    "And twice that?",
    "And half of that?",
  ]);
  expect((await t.runtime.record.findSession(session)).status).toBe("completed");
});

test("each task of a conversation has its own calls of a tool, and its own repair", async () => {
  const note = defineTool<object>({
    name: "note",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "noted",
  });
  const write = defineTool<object>({
    name: "leave",
    description: "x",
    input: { type: "object" },
    execute: async (_, { workspaceDir, changed }) => {
      const path = join(workspaceDir, "out.txt");
      writeFileSync(path, String(Math.random()));
      changed(path, "created");
      return "left";
    },
  });
  const task = () => [callTool("note", {}), say("forgot"), callTool("leave", {}), say("done")];
  await using t = testRuntime(
    { lead: [...task(), ...task()] },
    {
      tools: [note, write],
      agents: { lead: { limits: { perTool: { note: 1 } }, deliverables: [{ file: "out.txt" }] } },
    },
  );
  const first = await t.runtime.run({ agent: "lead", task: "one" });
  const second = await t.runtime.run({ agent: "lead", task: "two", session: first.session_id });
  expect([first.status, second.status]).toEqual(["completed", "completed"]);
  expect([first, second].map(({ deliverables }) => deliverables.map(({ ok }) => ok))).toEqual([
    [true],
    [true],
  ]);
  const answers = t.events.flatMap((event) =>
    event.type === "call.ended" && event.tool === "note" ? [event.outcome] : [],
  );
  expect(answers).toEqual(["ok", "ok"]);
});

test("each task of a conversation has its own budget", async () => {
  await using t = testRuntime(
    { lead: () => say("ok", { input: 200, output: 50 }) },
    { settings: { limits: { tokens: 600 } } },
  );
  const { session_id: session } = await t.runtime.run({ agent: "lead", task: "a" });
  for (const task of ["b", "c", "d"]) {
    const next = await t.runtime.run({ agent: "lead", task, session });
    expect(next).toMatchObject({ status: "completed", tokens: { subtree: 250 } });
  }
});

test("what was read from outside stays untrusted in the next task", async () => {
  await using t = testRuntime(
    { lead: ({ turn }) => (turn === 0 ? callTool("mail", {}) : say("done")) },
    { tools: [mail] },
  );
  const first = await t.runtime.run({ agent: "lead", task: "read" });
  expect(first.tainted).toBe(true);
  const second = await t.runtime.run({ agent: "lead", task: "go on", session: first.session_id });
  expect(second.tainted).toBe(true);
});

test("a conversation is replayed from its record, task by task", async () => {
  await using t = testRuntime({ lead: ({ turn }) => say(`answer ${turn}`) });
  const { session_id: session } = await t.runtime.run({ agent: "lead", task: "one" });
  await t.runtime.run({ agent: "lead", task: "two", session });
  const options = { agents: t.runtime.agents.list(), env: {} };
  expect(await replaySession(options, t.runtime.record, session)).toMatchObject({ identical: true, runs: 2 });
});

test("a session that is under way, was cut off, or ran several tasks at once is not taken up", async () => {
  await using t = testRuntime({ lead: ({ task }) => say(task) });
  await t.runtime.fanOut([
    ["lead", "a"],
    ["lead", "b"],
  ]);
  const [many] = (await t.runtime.record.listSessions()).sessions;
  const start = (session: string) => t.runtime.start({ agent: "lead", task: "more", session });
  await expect(start(many?.session_id ?? "")).rejects.toThrow(/several tasks at once/);
  await expect(start("ses_none")).rejects.toThrow(/ses_none/);
});

test("a conversation that is condensed keeps the task at hand, and not the first one", async () => {
  const big = defineTool<object>({
    name: "big",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "x".repeat(3_000),
  });
  const prompts: string[] = [];
  let asked = 0;
  await using t = testRuntime(
    {
      lead: ({ prompt }) => {
        if (!prompt.includes("you are lead")) return say("SUMMARY");
        prompts.push(prompt);
        return ++asked % 6 === 0 ? say(`answer ${asked}`) : callTool("big", { asked });
      },
    },
    { tools: [big], agents: { lead: { prompt: "you are lead", limits: { contextChars: 12_000 } } } },
  );
  const { session_id: session } = await t.runtime.run({ agent: "lead", task: "THE FIRST TASK" });
  const second = await t.runtime.run({ agent: "lead", task: "THE SECOND TASK", session });
  expect(second).toMatchObject({ status: "completed", summary: "answer 12" });
  expect(prompts.slice(6).filter((prompt) => !prompt.includes("THE SECOND TASK"))).toEqual([]);
  expect(prompts.at(-1)).not.toContain("THE FIRST TASK");
  expect(prompts.at(-1)).toContain("SUMMARY");
  expect(await t.runtime.replay(session)).toBeDefined();
});

test("a task that ends without a word does not repeat the answer to the one before", async () => {
  await using t = testRuntime({ lead: ({ turn }) => (turn === 0 ? say("It is 4.") : hang()) });
  const { session_id: session } = await t.runtime.run({ agent: "lead", task: "What is 2 + 2?" });
  const handle = await t.runtime.start({ agent: "lead", task: "And twice that?", session });
  t.runtime.cancel(session);
  const { status, details, summary } = await handle.result;
  expect(status).toBe("cancelled");
  expect(details + summary).not.toContain("It is 4.");
});
