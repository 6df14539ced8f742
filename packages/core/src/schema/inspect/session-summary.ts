import type { SessionRow } from "../record.ts";
import type { RunStatus } from "../result.ts";
import type { SessionState } from "./trace.ts";

/** Which sessions are wanted, the last changed first; what is absent lets every session through. */
export type SessionQuery = {
  /** 50 if absent; all with -1. */
  limit?: number;
  /** Words that must all be in its title, project or id, or in what was asked and answered in it; "a phrase" in quotes. */
  search?: string;
  /** The project's folder, as recorded. */
  project?: string;
  /** `ended`: any but running. */
  status?: RunStatus | "ended";
  /** Changed at this moment or later. */
  sinceMs?: number;
  /** Last changed before this moment. */
  untilMs?: number;
  /** Changed after this place in the order of changes. */
  afterChange?: number;
};

/** Where the words of a search were found, if not in what a list shows anyway. */
export type SessionMatch = { agent: string; in: "task" | "answer"; excerpt: string };

/** What a session amounts to; names as in the record. */
export type SessionFigures = {
  /** Of the first root run. */
  agent: string | null;
  runs: number;
  agents: number;
  /** Deepest run; roots are 0. */
  depth: number;
  tokens: number;
  /** Unknown is null, never 0. */
  cost_usd: number | null;
  /** Milliseconds in which a root run was at work; those that have not ended do not count. */
  duration_ms: number;
};

/** A session in a list. */
export type SessionSummary = SessionRow & SessionFigures & { state: SessionState; found?: SessionMatch };
