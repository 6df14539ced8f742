import type { ChangeOpening, FileChange, FileState, UntrustedNote, WorktreeRow } from "../schema/change.ts";
import { RetinueError } from "../schema/error.ts";
import type { SessionFigures, SessionMatch, SessionQuery } from "../schema/inspect/session-summary.ts";
import type { ExecutionPlan, PlanStatus } from "../schema/plan.ts";
import type { Approval, MessageClosing, MessageOpening, MessageRow, SessionRow } from "../schema/record.ts";
import type { DayStats, Stats, StatsQuery } from "../schema/stats.ts";

/**
 * Where everything that happens is kept: sessions, the rows of their runs, approvals, plans, changes to files. Any
 * database can stand behind it; `describeRecord` in record-contract.ts tests what each of them must do. Reads see what is
 * committed: await the promise of a write, or `committed`, before reading what was written. After `close` everything is refused.
 */
export type Record = WritePort &
  SessionPort &
  LeasePort &
  RowPort &
  StatsPort &
  ApprovalPort &
  PlanPort &
  ChangePort &
  UntrustedPort &
  RemovalPort & {
    /** Writes everything and lets go of the database; rejects, naming what is lost, if it refuses. May be called again. */
    close(): Promise<void>;
  };

/** Something a person must be told about the record. */
export type RecordNotice = { level: "info" | "warning" | "error"; message: string };

/** One write that is collected with others of its moment. */
export type RecordWrite =
  | { kind: "row.open"; id: number; row: MessageOpening; onCommit?: OnCommit | undefined }
  | { kind: "row.close"; id: number; sessionId: string; row: MessageClosing; onCommit?: OnCommit | undefined }
  | { kind: "session.update"; sessionId: string; change: SessionChange }
  | { kind: "text.save"; id: string; text: string }
  | { kind: "change.open"; change: ChangeOpening }
  /** The change has happened, and this came of it. */
  | { kind: "change.close"; changeId: string; after: FileState }
  /** Adds a copy of a project, or puts its new state in place of the old. */
  | { kind: "worktree.save"; row: WorktreeRow };

/**
 * Gets the session seq that an opening or closing took, once it is on disk. The seqs of a session rise in the order in which
 * its rows were written, whichever process wrote them.
 */
export type OnCommit = (seq: number) => void;

/** Collects writes and commits them together, in the order they were handed over. */
export type WritePort = {
  /** Gives so many ids for rows that no other process has, one after the other; the first of them. */
  reserveRowIds(count: number): Promise<number>;
  /**
   * Hands a write over, as it is now; what belongs together in one moment is one transaction. While the disk refuses it is
   * kept and tried again. If it can never be written a notice says so, and who waits for it or for later writes is refused.
   * What belongs to a session that was lost to another process goes nowhere, and its `onCommit` is never called.
   */
  append(write: RecordWrite): void;
  /** Like `append`; resolves once it is on disk, and rejects if it can never be written. */
  write(write: RecordWrite): Promise<void>;
  /** Resolves when everything handed over so far is on disk; rejects if something of it can never be written. */
  committed(): Promise<void>;
  /** Like `committed`, but rejects if the disk refuses now; what was to be written is kept and tried again. */
  written(): Promise<void>;
  /** Why nothing can be written now; null as long as it can. */
  writeProblem(): Promise<RetinueError | null>;
};

/** What is known when a session starts. */
export type SessionOpening = {
  sessionId: string;
  title: string;
  project: string;
  workspace: string;
  /** `running` unless said otherwise. */
  status?: SessionRow["status"];
  /** Stored as JSON. */
  metadata?: Readonly<{ [name: string]: unknown }>;
};

/** What may change about a session; absent means as before. */
export type SessionChange = {
  status?: SessionRow["status"];
  title?: string;
  /** Replaces the stored metadata. */
  metadata?: Readonly<{ [name: string]: unknown }>;
};

/** What was found, and how far was looked. */
export type FoundSessions = {
  sessions: (SessionRow & { found?: SessionMatch })[];
  /** More sessions than may be searched fit everything but the words; this many were. */
  searchedOnly?: number;
};

/**
 * `changed` is the place of the last change of any session in the order of changes, also of one that was deleted; `others`
 * is a new number once another process has written anything, and may be one after own writes.
 */
export type RecordVersion = { changed: number; others: number };

/** Starts, changes and finds sessions. */
export type SessionPort = {
  /** Rejects if there is a session of this id. */
  startSession(row: SessionOpening): Promise<void>;
  /** The last changed first, by order of writing and not by the clock. */
  listSessions(query?: SessionQuery): Promise<FoundSessions>;
  readSession(sessionId: string): Promise<SessionRow | undefined>;
  /** The one session whose id begins with `prefix`; rejects with what was available. */
  findSession(prefix: string): Promise<SessionRow>;
  /** What a session amounts to, from its runs alone. */
  readFigures(sessionId: string): Promise<SessionFigures>;
  readVersion(): Promise<RecordVersion>;
};

/** A wish to end a session, or one run of it with everything below; `id` is the one or the other's. */
export type StopRequest = { sessionId: string; id: string };

/** So long a process on a machine that cannot be looked at may be silent before its sessions are free. */
export const LEASE_MS = 15_000;

/** A session cannot be had, because a living process works on it. */
export class SessionTaken extends RetinueError {
  /** That process, as people name it. */
  readonly holder: string;
  /** Only its silence will tell whether that process still lives. */
  readonly isElsewhere: boolean;

  constructor(sessionId: string, holder: string, isElsewhere = false) {
    const hint = `wait for it, or end it first with: retinue cancel ${sessionId}`;
    super("input", `session ${sessionId} is being worked on by ${holder}`, hint);
    this.holder = holder;
    this.isElsewhere = isElsewhere;
  }
}

/** Keeps two processes off one session, and passes wishes to stop to the one that has it. */
export type LeasePort = {
  /**
   * Takes a session for this process; resolves with how to give it back. Rejects with `SessionTaken` if another living
   * process has it. `onLost` is called when it turns out that somebody else has taken the session over.
   */
  takeLease(sessionId: string, onLost?: () => void): Promise<() => Promise<void>>;
  /**
   * Leaves a session as it is on disk, for another process to go on with: what this one still writes of it goes nowhere.
   * To be called when everything of it is committed.
   */
  letGo(sessionId: string): Promise<void>;
  /** The living process that has a session, as people name it; null if none has. */
  findHolder(sessionId: string): Promise<string | null>;
  askToStop(request: StopRequest): Promise<void>;
  /** Everything that was asked for, of one session or of all. */
  listStops(sessionId?: string): Promise<StopRequest[]>;
  /** Drops what was asked for a session, because it was done or means nothing any more. */
  forgetStops(sessionId: string): Promise<void>;
};

/** Which rows are wanted: of a session, of some runs of it, of some runs, or directly below a row. */
export type RowQuery = (
  | { sessionId: string; runIds?: readonly string[] }
  | { runIds: readonly string[] }
  | { parentId: number }
) & {
  /** Prompts and delegations, or the model and tool calls of runs; all rows if absent. */
  kind?: "runs" | "steps";
  /** Only those that opened after this seq. */
  after?: number;
  limit?: number;
  /** Characters of each long text; whole if absent. */
  chars?: number;
};

/** A run's row without its long texts, and the run that its parent row belongs to. */
export type RunOutline = MessageRow & { parent_run_id: string | null };

/** One step of a session's log: a row as it is now, and which of its two moments took this seq. */
export type MessageChange = { seq: number; kind: "opened" | "closed"; row: MessageRow };

/** When a model or tool call began and ended, and what it took: everything of it but its texts. */
export type StepMoment = {
  seq: number;
  runId: string;
  /** The name of a tool; null of a model call. */
  tool: string | null;
  startedAt: string;
  endedAt: string | null;
  tokens: number;
  costUsd: number | null;
};

/** A run of the record, or an act of a person on a run's changes, and the session it belongs to. */
export type FoundRun = { id: string; sessionId: string; kind: "run" | "act" };

/** Some rows from a place on. */
export type RowPage = { sessionId: string; after?: number; limit?: number };

/** Figures over many runs, and by the day (UTC) they began on, the oldest first. */
export type StatsByDay = Stats & { days: DayStats[] };

/** Reads what runs, model calls and tool calls left. */
export type RowPort = {
  readRow(id: number): Promise<MessageRow | undefined>;
  /** In the order they opened. */
  readRows(query: RowQuery): Promise<MessageRow[]>;
  /** The runs of a session in the order they opened; what they answered is null, and what they were asked is cut. */
  readOutline(page: RowPage): Promise<RunOutline[]>;
  /** What opened or closed after a seq, in that order; to go on, ask again with the last seq received. */
  readLog(page: RowPage): Promise<MessageChange[]>;
  /** Model and tool calls that opened after a seq, in that order. */
  readMoments(page: RowPage): Promise<StepMoment[]>;
  /** The last seq that the record of a session has; 0 for none. */
  readLastSeq(sessionId: string): Promise<number>;
  /** How many model and tool calls a session has. */
  countSteps(sessionId: string): Promise<{ turns: number; calls: number }>;
  /** Runs and acts whose id begins with `prefix`, six at most; one with exactly this id is the only one. */
  findRuns(prefix: string): Promise<FoundRun[]>;
  /** A system prompt, definition or condensed history that a row names. */
  readText(id: string): Promise<string | undefined>;
};

/** Reads figures over many runs. */
export type StatsPort = {
  /**
   * How often the runs that fit the query succeeded, how long they took and what they spent. With `aside` it is read so that
   * tens of thousands of runs hold nobody up, and who asks for the same meanwhile gets the same answer.
   */
  readStats(query?: StatsQuery & { aside?: boolean }): Promise<StatsByDay>;
};

/** A call by its exact arguments, and why a person must be asked beyond what the rules say. */
export type ApprovalCall = Pick<Approval, "runId" | "callId" | "inputHash"> & {
  tainted?: boolean;
  mustConfirm?: boolean;
};

/** Which questions are wanted. */
export type ApprovalQuery = {
  /** All in the order they were asked if absent; those that were answered with the last answer first. */
  state?: "waiting" | "answered";
  sessionId?: string;
  runId?: string;
  /** Of this project; of those that wait, only in sessions that have not ended. */
  project?: string;
  /** Only those behind this one, by its id. */
  after?: string;
  limit?: number;
};

/** Calls that wait for a person, kept beyond the process that asked. */
export type ApprovalPort = {
  /** Adds a question, unless this very call has been asked about before; gives the one that is kept. */
  addApproval(asked: Omit<Approval, "answer">): Promise<Approval>;
  /** Answers a question; false if somebody else has. */
  answerApproval(approvalId: string, answer: NonNullable<Approval["answer"]>): Promise<boolean>;
  /**
   * What was said to a call with exactly these arguments: to the call itself, or to an earlier one of its run for the whole
   * run; null if nobody has answered. Who said yes for the run before untrusted text had entered it did not know of that.
   */
  findAnswer(call: ApprovalCall): Promise<Approval["answer"]>;
  /** The one approval whose id begins with `prefix`; rejects with what was available. */
  findApproval(prefix: string): Promise<Approval>;
  listApprovals(query?: ApprovalQuery): Promise<Approval[]>;
  /**
   * How many wait for a person in a session, or in the open sessions of a project, and the position of the newest of
   * them. If both are as before, the same questions wait: a question is never asked again once it is gone.
   */
  countWaiting(
    query: Pick<ApprovalQuery, "sessionId" | "project">,
  ): Promise<{ count: number; newest: number }>;
};

/** Which plans are wanted. */
export type PlanQuery = {
  project?: string;
  /** 50 if absent; all with -1. */
  limit?: number;
  /** Only those whose last change came before this one, by its place in the order of changes. */
  before?: number;
};

/** Some plans; `next` is the `before` of the page behind this one, null on the last. */
export type PlanPage = { plans: ExecutionPlan[]; next: number | null };

/** Plans by id, each version of their steps kept. */
export type PlanPort = {
  /** Adds a version of a plan; rejects if somebody else has added it first. */
  addPlan(plan: ExecutionPlan): Promise<void>;
  /** Changes the version that is there if it still has one of the statuses; false if not. */
  changePlan(plan: ExecutionPlan, from: readonly PlanStatus[]): Promise<boolean>;
  /** The newest version. */
  readPlan(planId: string): Promise<ExecutionPlan | undefined>;
  /** The one plan whose id begins with `prefix`; rejects with what was available. */
  findPlan(prefix: string): Promise<ExecutionPlan>;
  /** The newest versions, the last changed plan first, by order of writing and not by the clock. */
  listPlans(query?: PlanQuery): Promise<PlanPage>;
};

/** Changes made by, or about, any of some runs and acts; or of one path, closed after a seq or still open. */
export type ChangeQuery = { ids: readonly string[] } | { root: string; path: string; after: number };

/** What runs changed in projects, and the copies of projects that isolated runs work in. */
export type ChangePort = {
  /** In the order they happened. */
  listChanges(query: ChangeQuery): Promise<FileChange[]>;
  /** The seq of the change that closed last. */
  readLastChange(): Promise<number>;
  /** The copy of a run, or the one whose folder this is, also if it is gone. */
  findWorktree(query: { runId: string } | { path: string }): Promise<WorktreeRow | undefined>;
  /** Copies that are still there, in the order they were made. */
  listWorktrees(): Promise<WorktreeRow[]>;
};

/** Content by what tells it from other content. */
export type Fingerprint = { size: number; hash: string };

/** Who wrote something, and the folder that it lies in. */
export type UntrustedAuthor = Pick<UntrustedNote, "root" | "sessionId" | "runId">;

/**
 * What may be untrusted: a content by its size or its hash, names by their hashes in any of some folders, or whatever
 * changed at a moment below one of some folders.
 */
export type UntrustedQuery =
  | { size: number }
  | { hash: string }
  | { names: readonly string[]; roots: readonly string[] }
  | { roots: readonly string[]; atMs: number };

/**
 * What runs wrote that held untrusted text, until a person has looked at it: contents and names by their hash, and spans of
 * time in which anything below a folder may have been written.
 */
export type UntrustedPort = {
  /** Notes a content; without a size the name of something whose content is not noted, such as a folder. */
  noteUntrusted(
    about: UntrustedAuthor & Pick<Fingerprint, "hash"> & { path: string; size?: number },
  ): Promise<void>;
  /** From now on whatever changes below the root is untrusted; `sinceMs: 0` means all that is there. Gives the span's id. */
  openSpan(about: UntrustedAuthor & { sinceMs: number }): Promise<number>;
  /** Ends a span; without a time it is forgotten, because its contents are noted one by one. */
  closeSpan(id: number, untilMs?: number): Promise<void>;
  /** Whether there is anything untrusted; if folders are given, in a project at, below or above one of them. */
  hasUntrusted(roots?: readonly string[]): Promise<boolean>;
  isUntrusted(query: UntrustedQuery): Promise<boolean>;
  /**
   * Notes, the latest first: all; those that make something untrusted in a project: its own, and those of projects below and
   * above it; or the spans of a session that have a beginning and no end yet, because its process ended inside of them.
   */
  listUntrusted(query?: { project?: string } | { openIn: string }): Promise<UntrustedNote[]>;
  /** A person has looked: these notes, and every other note of the same contents, are dropped. Gives how many were. */
  trustNotes(ids: readonly number[]): Promise<number>;
};

/** Takes sessions out of the record. */
export type RemovalPort = {
  /**
   * Takes out a session with everything about it and the texts that no other names, whole or not at all; false if it has
   * not ended or is not there. Notes of untrusted files stay: they are about the project. No number that it had is used again.
   */
  deleteSession(sessionId: string): Promise<boolean>;
  /** Why a session must stay; null if it may go. */
  whyKept(sessionId: string): Promise<string | null>;
  /** About how many bytes of the record a session takes. */
  measureSession(sessionId: string): Promise<number>;
  /** Hashes of contents that some change still needs. */
  listContents(): Promise<Set<string>>;
  /** Bytes that the database takes, and those of them that nothing uses. */
  measure(): Promise<{ bytes: number; freeBytes: number }>;
  /** Gives what nothing uses back to the disk; rejects if another process is writing. */
  compact(): Promise<void>;
};
