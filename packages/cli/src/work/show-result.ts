import { ANSWER_FORM } from "@retinue/core/run/deliverables";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { EventNamed, RetinueEvent } from "@retinue/core/schema/event";
import { readJsonObject } from "@retinue/core/schema/json-object";
import type { Approval } from "@retinue/core/schema/record";
import type { RunResult, Usage } from "@retinue/core/schema/result";
import { stripControls, writeJson } from "@retinue/core/text/plain-text";
import type { Cli, Terminal } from "../terminal.ts";
import { chooseFormat, type RunOptions } from "./run-options.ts";
import { describeWaiting, toWaitingLine, type WaitingLine } from "./waiting.ts";

/** What a run came to: its results, and what it waits for if it was left for later. */
type ShownOutcome = { results: readonly RunResult[]; waiting: readonly Approval[] };

/** Shows the outcome in the format that was asked for; as a stream, also everything on the way to it. */
export function createResultView(
  runtime: Runtime,
  cwd: string,
  cli: Cli<RunOptions>,
): (outcome: ShownOutcome) => void | Promise<void> {
  const format = chooseFormat(cli.options);
  if (format === "text") return (outcome) => printText(outcome, cli);
  const isStream = format === "stream-json";
  const about = { cwd, permissionMode: cli.options.permissionMode ?? "default" };
  const write = (line: object) => cli.print(writeJson(line));
  const stream = createJsonStream(runtime, about, isStream ? write : () => {});
  runtime.events(stream.take);
  return async ({ results, waiting }) => {
    await stream.written();
    const lines = results.map((result) => stream.finish(result, waiting));
    if (isStream) for (const line of lines) write(line);
    else cli.print(writeJson(lines.length === 1 ? lines[0] : lines, 2));
  };
}

function printText({ results, waiting }: ShownOutcome, terminal: Terminal): void {
  if (waiting.length > 0) {
    for (const line of describeWaiting(waiting)) terminal.tell(line);
    return;
  }
  for (const [index, result] of results.entries()) {
    if (results.length > 1)
      terminal.print(
        `${index > 0 ? "\n" : ""}${index + 1}. ${stripControls(result.agent)}: ${result.status}`,
      );
    printRun(result, terminal);
  }
}

function printRun(result: RunResult, terminal: Terminal): void {
  if (hasFittingAnswer(result)) {
    terminal.print(writeJson(result.data, 2));
    return;
  }
  const text = stripControls(result.details || result.summary).trimEnd();
  const error = result.success ? "" : stripControls(result.error?.message ?? "").trimEnd();
  // Where JSON was asked for, nothing else may be printed instead.
  if (text && text !== error && !wantsForm(result)) terminal.print(text);
  if (error) terminal.tell(`error: ${error}`);
}

/** A run, and of its last turn the calls that nobody has answered yet. */
type Live = { callId: string | null; agent: string; model: string; open: Set<string> };

/**
 * Turns events into the lines that scripts written for Claude Code read; `write` gets one object per line. Sub-agents' messages
 * carry the call that made them.
 */
function createJsonStream(
  runtime: Pick<Runtime, "record" | "agents">,
  about: { cwd: string; permissionMode: string },
  write: (line: object) => void,
) {
  const runs = new Map<string, Live>();
  const inputs = new Map<string, unknown>();
  const totals: StreamTotals = { usage: noUsage(), denials: [], runs: [] };
  const say = (type: "assistant" | "user", run: Live, sessionId: string, message: object) =>
    write({
      type,
      message: { role: type, ...message },
      parent_tool_use_id: run.callId,
      session_id: sessionId,
    });

  function answer(runId: string, sessionId: string, callId: string, content: string, isError: boolean): void {
    const run = runs.get(runId);
    if (!run?.open.delete(callId)) return;
    say("user", run, sessionId, {
      content: [{ type: "tool_result", tool_use_id: callId, content, is_error: isError }],
    });
  }
  function takeTurn(event: EventNamed<"turn.ended">): void {
    const run = runs.get(event.runId);
    if (!run) return;
    if (event.usage) addUsage(totals.usage, event.usage);
    if (event.error) return;
    const uses = event.calls.map(({ callId: id, tool: name, input }) => {
      return { type: "tool_use", id, name, input: parseInput(input) };
    });
    for (const { id, input } of uses) inputs.set(`${event.runId} ${id}`, input);
    run.open = new Set(uses.map(({ id }) => id));
    const content = [...(event.text ? [{ type: "text", text: event.text }] : []), ...uses];
    if (content.length > 0) say("assistant", run, event.sessionId, { model: run.model, content });
  }
  async function takeCall(event: EventNamed<"call.ended">): Promise<void> {
    const { runId, callId, sessionId, tool, outcome } = event;
    const isDenied = outcome === "denied";
    const input = inputs.get(`${runId} ${callId}`) ?? null;
    if (isDenied) totals.denials.push({ tool_name: tool, tool_use_id: callId, tool_input: input });
    const text = (await runtime.record.readRow(event.messageId))?.response_content ?? event.summary;
    answer(runId, sessionId, callId, text, isDenied || outcome === "error");
  }

  async function takeEvent(event: RetinueEvent): Promise<void> {
    if (event.type === "run.started") {
      const { callId, agent, model } = event;
      runs.set(event.runId, { callId, agent, model, open: new Set() });
      if (!event.parentRunId) write(await writeInitLine(event, runtime, about));
    } else if (event.type === "delegation.answered")
      answer(event.runId, event.sessionId, event.callId, event.text, event.isError);
    else if (event.type === "turn.ended") takeTurn(event);
    else if (event.type === "call.ended") await takeCall(event);
    else if (event.type === "run.ended") {
      if (runs.get(event.runId)?.callId) totals.runs.push(event.result);
      runs.delete(event.runId);
    }
  }

  let written = Promise.resolve();
  return {
    take(event: RetinueEvent): void {
      // A record that cannot be read now leaves out a line, and no more.
      written = written.then(() => takeEvent(event)).catch(() => {});
    },
    /** Resolves when the lines of everything so far are written, in the order of the events. */
    written: () => written,
    /** The last line, which the caller writes; `waiting` is what a session that was left for later waits for. */
    finish: (result: RunResult, waiting: readonly Approval[]) => writeResultLine(result, totals, waiting),
  };
}

function noUsage(): Usage {
  return { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

function addUsage(total: Usage, usage: Usage): void {
  for (const kind of Object.keys(total) as (keyof Usage)[]) total[kind] += usage[kind];
}

function parseInput(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input || "{}");
  } catch {
    return { malformed: input };
  }
}

/** The first line of a stream: what the session begins with. */
async function writeInitLine(
  event: EventNamed<"run.started">,
  { record, agents }: Pick<Runtime, "record" | "agents">,
  about: { cwd: string; permissionMode: string },
): Promise<object> {
  const agent = agents.get(event.agent);
  const delegation = agent?.subagents ? ["delegate", "delegate_many", "collect_results"] : [];
  return {
    type: "system",
    subtype: "init",
    session_id: event.sessionId,
    cwd: about.cwd,
    model: event.model,
    agent: event.agent,
    tools: [...(await offeredTools(record, event.messageId)), ...delegation],
    agents: agents.list().map((each) => each.name),
    mcp_servers: [],
    permissionMode: about.permissionMode,
  };
}

/** The tools of a run, from the snapshot that its row points to. */
async function offeredTools(record: Runtime["record"], messageId: number): Promise<string[]> {
  const { snapshot } = readJsonObject((await record.readRow(messageId))?.metadata_json);
  const { tools } = readJsonObject(await record.readText(String(snapshot ?? "")));
  return Array.isArray(tools) ? tools.filter((name): name is string => typeof name === "string") : [];
}

/** What is counted while a stream runs. */
type StreamTotals = {
  usage: Usage;
  denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[];
  /** Results of all sub-agents, retries included. */
  runs: RunResult[];
};

/**
 * The last line of a stream: what scripts written for Claude Code read, and beside it all of the result. Usage and cost
 * are of the whole tree; an unknown price is null.
 */
function writeResultLine(
  result: RunResult,
  { usage, denials, runs }: StreamTotals,
  approvals: readonly Approval[],
): object {
  const waiting = approvals.map(toWaitingLine);
  const shown = waiting.length > 0 ? leftForLater(result, waiting) : result;
  const subtype = waiting.length > 0 ? "parked" : chooseSubtype(result);
  return {
    type: "result",
    subtype,
    is_error: subtype !== "success",
    result: shown.details || shown.summary,
    num_turns: result.iteration_count,
    total_cost_usd: result.cost_usd.subtree,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    permission_denials: waiting.length > 0 ? [] : denials,
    subagent_stats: countRuns(waiting.length > 0 ? [] : runs),
    ...(hasFittingAnswer(result) && { structured_output: result.data }),
    ...(waiting.length > 0 && { waiting }),
    ...shown,
  };
}

/** Whether the run was asked for an answer of a given form, and gave it. */
function hasFittingAnswer(result: RunResult): boolean {
  return wantsForm(result) && result.success && result.data !== undefined;
}

/** Whether the run was asked for an answer of a given form. */
function wantsForm({ deliverables }: RunResult): boolean {
  return deliverables.some((one) => one.deliverable === ANSWER_FORM);
}

/** What is known of a run that waits: it has not ended, whatever became of it in this process. */
function leftForLater(result: RunResult, waiting: readonly WaitingLine[]): RunResult {
  const { error: _error, bailout_reason: _bailout, data: _data, ...rest } = result;
  const ids = waiting.map((one) => one.approval_id).join(", ");
  const summary = `waiting for approval: ${ids}; answer with: retinue approve ${waiting[0]?.approval_id}`;
  return { ...rest, status: "running", success: false, partial: true, summary, details: summary };
}

function chooseSubtype({ success, bailout_reason: bailout }: RunResult): string {
  if (bailout === "max_iterations") return "error_max_turns";
  if (bailout === "max_cost") return "error_max_budget_usd";
  return success && !bailout ? "success" : "error_during_execution";
}

/** Completed with what there was when a limit cut it short: neither a success nor a failure. */
function isPartial({ status, partial }: RunResult): boolean {
  return status === "completed" && partial;
}

function countRuns(runs: readonly RunResult[]): object {
  const byAgent = Map.groupBy(runs, (run) => run.agent);
  const count = (some: readonly RunResult[]) => ({
    runs: some.length,
    succeeded: some.filter((run) => run.success).length,
    failed: some.filter((run) => !run.success && !isPartial(run) && run.status !== "cancelled").length,
    partial: some.filter(isPartial).length,
    cancelled: some.filter((run) => run.status === "cancelled").length,
    tokens: some.reduce((sum, run) => sum + run.tokens.self, 0),
  });
  return {
    ...count(runs),
    by_agent: Object.fromEntries([...byAgent].map(([name, some]) => [name, count(some)])),
  };
}
