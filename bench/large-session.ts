import type { Record } from "@retinue/core/record/record";
import { createRecordJournal } from "@retinue/core/record/record-journal";

const RUNS = 10_000;
const MESSAGES = 100_000;
const PER_LEAD = 100;
const AGENTS = ["researcher", "coder", "tester", "reviewer", "planner"];

/** Writes a session of 10,000 runs and 100,000 messages: a main run, a hundred leads, and what each of those delegated. */
export async function writeLargeSession(
  record: Record,
  project: string,
): Promise<{ sessionId: string; runs: number; messages: number }> {
  const sessionId = "ses_large";
  const originMs = Date.now() - 3_600_000;
  await record.startSession({ sessionId, title: "A very large session", project, workspace: project });
  const steps = Math.floor((MESSAGES - RUNS) / RUNS);
  const journal = await createRecordJournal(record);
  let clock = 0;
  const write = (parentId: number | null, index: number, depth: number): number => {
    const runId = `run_${index.toString().padStart(8, "0")}`;
    const agentRole = depth === 0 ? "main" : (AGENTS[index % AGENTS.length] ?? "coder");
    const shared = { sessionId, runId, agentRole, depth };
    const task = `Part ${index}: look at what number ${index} stands for and say so`;
    const row = journal.open({
      ...shared,
      parentId,
      type: depth === 0 ? "prompt" : "delegation",
      startedAtMs: originMs + clock++,
      requestContent: task,
      modelId: "mock/large",
      maxIterations: 20,
      metadata: { attempt: 0 },
    });
    for (let step = 0; step < steps; step++) {
      const isCall = step % 2 === 1;
      const id = journal.open({
        ...shared,
        parentId: row,
        type: isCall ? "tool_call" : "continuation",
        startedAtMs: originMs + clock++,
        ...(isCall && { requestContent: '{"path":"src/a.ts"}', callId: `call_${index}_${step}` }),
        metadata: isCall ? { tool: "read" } : { turn: step / 2 },
      });
      journal.close(id, sessionId, {
        status: "completed",
        completedAtMs: originMs + clock++,
        durationMs: 1,
        responseContent: isCall ? "one line of what was read" : `Step ${step} of part ${index}.`,
        metadata: isCall ? { outcome: "ok" } : {},
      });
    }
    return row;
  };
  const end = (row: number, index: number) =>
    journal.close(row, sessionId, {
      status: index % 97 === 0 && index > 0 ? "failed" : "completed",
      completedAtMs: originMs + clock++,
      durationMs: 1_000,
      responseContent: `Part ${index} is done.`,
      responseSummary: `Part ${index} is done.`,
      totalTokens: 1_234,
      iterationCount: 4,
      costUsd: 0.001,
      ...(index % 97 === 0 && index > 0 && { errorMessage: "it could not be found" }),
    });
  const main = write(null, 0, 0);
  let index = 1;
  while (index < RUNS) {
    const leadIndex = index++;
    const lead = write(main, leadIndex, 1);
    for (let below = 0; below < PER_LEAD - 1 && index < RUNS; below++) {
      const childIndex = index++;
      end(write(lead, childIndex, 2), childIndex);
    }
    end(lead, leadIndex);
    await record.committed();
  }
  end(main, 0);
  await record.write({ kind: "session.update", sessionId: sessionId, change: { status: "completed" } });
  await record.committed();
  return { sessionId, runs: RUNS, messages: RUNS + RUNS * steps };
}
