import type { FlowContext, RunError, RunResult, Usage } from "./result.ts";

/** What a run waits for while it holds no slot. */
export type WaitingOn = "children" | "approval" | "budget" | "slot" | "provider" | "pause" | "store";

/** What happened, without the envelope. Streamed text has no seq: a reconnect sends a snapshot. */
export type EventBody =
  | { type: "session.started"; title: string; project: string; workspace: string }
  | { type: "session.parked"; approvalIds: readonly string[] }
  | { type: "session.ended"; status: RunResult["status"] }
  | {
      type: "run.started";
      runId: string;
      parentRunId: string | null;
      /** The tool call of the parent that made this run. */
      callId: string | null;
      messageId: number;
      agent: string;
      displayName: string;
      icon: string | null;
      depth: number;
      model: string;
      task: string;
      attempt: number;
    }
  | { type: "run.ended"; runId: string; agent: string; result: RunResult }
  | { type: "run.waiting"; runId: string; on: WaitingOn | null }
  | { type: "run.paused"; runId: string; isPaused: boolean }
  | { type: "run.steered"; runId: string; text: string }
  | { type: "run.tainted"; runId: string; tool: string }
  | { type: "phase.entered"; runId: string; phase: string; context: FlowContext }
  | { type: "turn.started"; runId: string; turn: number; messageId: number; model: string }
  | { type: "text.streamed"; runId: string; turn: number; text: string }
  | { type: "reasoning.streamed"; runId: string; turn: number; text: string }
  | {
      type: "turn.ended";
      runId: string;
      turn: number;
      messageId: number;
      text: string;
      calls: readonly { callId: string; tool: string; input: unknown }[];
      usage: Usage | null;
      costUsd: number | null;
      error?: RunError;
    }
  | { type: "call.started"; runId: string; callId: string; messageId: number; tool: string; input: unknown }
  | { type: "call.progressed"; runId: string; callId: string; tool: string; message: string }
  | {
      type: "call.ended";
      runId: string;
      callId: string;
      messageId: number;
      tool: string;
      outcome: "ok" | "error" | "denied" | "cached";
      summary: string;
      durationMs: number;
    }
  | {
      /** A call that a child run stands for has its answer, as the parent's model gets it. */
      type: "delegation.answered";
      runId: string;
      callId: string;
      text: string;
      isError: boolean;
    }
  | {
      type: "approval.requested";
      runId: string;
      approvalId: string;
      tool: string;
      input: unknown;
      /** The call in words: every address, the whole text. */
      presented?: string;
      reason: string;
      chain: readonly string[];
    }
  | {
      type: "approval.settled";
      runId: string;
      approvalId: string;
      allowed: boolean;
      by: string;
      note?: string;
    }
  | { type: "compliance.failed"; runId: string; agent: string; message: string }
  | { type: "notice.raised"; level: "info" | "warning" | "error"; message: string; runId?: string };

/** One event. The recorder, the terminal, the web app and telemetry are all subscribers to these. */
export type RetinueEvent = EventBody & { sessionId: string; atMs: number; seq?: number };

/** The event of one type. */
export type EventNamed<Type extends EventBody["type"]> = Extract<RetinueEvent, { type: Type }>;
