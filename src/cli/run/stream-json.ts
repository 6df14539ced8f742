import type { Runtime } from "../../runtime/runtime.ts";
import type { RetinueEvent } from "../../schema/event.ts";
import type { Approval } from "../../schema/record.ts";
import type { RunResult, Usage } from "../../schema/result.ts";
import { initMessage } from "./stream-json-init.ts";
import { resultMessage, type StreamTotals } from "./stream-json-result.ts";

/** Turns events into the lines that scripts written for Claude Code read. */
export type JsonStream = {
  take(event: RetinueEvent): void;
  /** The last line, which the caller writes; `waiting` is what a session that was left for later waits for. */
  finish(result: RunResult, waiting: readonly Approval[]): object;
};

/** A run, and of its last turn the calls that nobody has answered yet. */
type Live = { callId: string | null; agent: string; model: string; open: Set<string> };
type Of<Type extends RetinueEvent["type"]> = Extract<RetinueEvent, { type: Type }>;

/** Creates the stream; `write` gets one object per line. Sub-agents' messages carry the call that made them. */
export function createJsonStream(
  runtime: Pick<Runtime, "store" | "agents">,
  about: { cwd: string; permissionMode: string },
  write: (line: object) => void,
): JsonStream {
  const runs = new Map<string, Live>();
  const inputs = new Map<string, { tool: string; input: unknown }>();
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
  function takeTurn(event: Of<"turn.ended">): void {
    const run = runs.get(event.runId);
    if (!run) return;
    if (event.usage) addUsage(totals.usage, event.usage);
    if (event.error) return;
    const calls = event.calls.map(({ callId, tool, input }) => ({ callId, tool, input: parsed(input) }));
    for (const call of calls) inputs.set(`${event.runId} ${call.callId}`, call);
    run.open = new Set(calls.map((call) => call.callId));
    const uses = calls.map(({ callId, tool, input }) => ({
      type: "tool_use",
      id: callId,
      name: tool,
      input,
    }));
    const content = [...(event.text ? [{ type: "text", text: event.text }] : []), ...uses];
    if (content.length > 0) say("assistant", run, event.sessionId, { model: run.model, content });
  }
  function takeCall(event: Of<"call.ended">): void {
    if (event.outcome === "denied") {
      const call = inputs.get(`${event.runId} ${event.callId}`);
      totals.denials.push({
        tool_name: event.tool,
        tool_use_id: event.callId,
        tool_input: call?.input ?? null,
      });
    }
    const text = runtime.store.message(event.messageId)?.response_content ?? event.summary;
    answer(
      event.runId,
      event.sessionId,
      event.callId,
      text,
      event.outcome === "error" || event.outcome === "denied",
    );
  }
  function takeEnd(event: Of<"run.ended">): void {
    if (runs.get(event.runId)?.callId) totals.runs.push(event.result);
    runs.delete(event.runId);
  }

  return {
    take(event) {
      if (event.type === "run.started") {
        const { callId, agent, model } = event;
        runs.set(event.runId, { callId, agent, model, open: new Set() });
        if (!event.parentRunId) write(initMessage(event, runtime, about));
      } else if (event.type === "delegation.answered")
        answer(event.runId, event.sessionId, event.callId, event.text, event.isError);
      else if (event.type === "turn.ended") takeTurn(event);
      else if (event.type === "call.ended") takeCall(event);
      else if (event.type === "run.ended") takeEnd(event);
    },
    finish: (result, waiting) => resultMessage(result, totals, waiting),
  };
}

function noUsage(): Usage {
  return { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

function addUsage(total: Usage, usage: Usage): void {
  total.inputTokens += usage.inputTokens;
  total.outputTokens += usage.outputTokens;
  total.cacheReadTokens += usage.cacheReadTokens;
  total.cacheWriteTokens += usage.cacheWriteTokens;
  total.reasoningTokens += usage.reasoningTokens;
}

function parsed(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input || "{}");
  } catch {
    return { malformed: input };
  }
}
