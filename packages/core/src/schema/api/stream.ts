import type { WaitingOn } from "../event.ts";
import type { RunView, SessionStanding, StepView } from "./session.ts";

/** How a live run stands between two rows of the record. */
export type LiveText = {
  /** What the model has said so far in the turn under way. */
  text: string;
  /** The same of its reasoning. */
  reasoning: string;
  turn: number;
  waitingOn: WaitingOn | null;
  /** Calls under way, with what they last told about their progress. */
  calls: readonly { callId: string; tool: string; progress: string | null }[];
  /** Tokens of the run's ended turns. */
  tokens: number;
  costUsd: number | null;
  isPaused: boolean;
};

/** What changed of a live run; what is absent is as before. */
export type LiveChange = Partial<Omit<LiveText, "text" | "reasoning">> & {
  /** A new turn began: what was said before is now in the record. */
  cleared?: true;
  /** More of the text and of the reasoning. */
  text?: string;
  reasoning?: string;
};

/**
 * The stream of one session, `GET /api/sessions/:id/events?after=SEQ`. Each event's name is its `kind`, its data the rest.
 * Only `changed` has an id, the seq up to which the record has been told; a browser that comes back names the last one
 * and misses nothing. A `snapshot` follows every connection, because live text has no seq.
 */
export type StreamEvent =
  | { kind: "changed"; seq: number; runs: RunView[]; steps: StepView[] }
  | { kind: "snapshot"; live: Record<string, LiveText> }
  | { kind: "live"; runs: Record<string, LiveChange> }
  | ({ kind: "session" } & SessionStanding)
  | { kind: "notice"; level: "info" | "warning" | "error"; message: string; runId: string | null };

/**
 * The stream of everything, `GET /api/events`: what lists may want to load again. On connection `hello` tells how things
 * stand; a browser that sees another `startedAtMs` than before talks to another process.
 */
export type NewsEvent =
  | { kind: "hello"; startedAtMs: number; version: string; asks: number }
  | { kind: "sessions"; ids: string[] }
  | { kind: "asks"; asks: number }
  | { kind: "agents" };
