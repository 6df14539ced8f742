/** A file, link or folder as it was at one moment; null where there was nothing. */
export type FileState = {
  /** Kind and permissions, as the system's `st_mode`. */
  readonly mode: number;
  /** Hash of the content, or of a link's target; empty for a folder. */
  readonly hash: string;
} | null;

/** What made a change: a tool that named the file, a command, or an act of a person or run on earlier changes. */
export type ChangeSource = "tool" | "command" | "undo" | "merge";

/** A change that is about to happen, or was found. */
export type ChangeOpening = {
  changeId: string;
  sessionId: string;
  /** The run, or the act (`und_…`, `mrg_…`) of a person. */
  runId: string;
  /** The run or act that an undo takes back, or that a merge brings in. */
  aboutRun?: string;
  /** The record's row of the call. */
  messageId: number | null;
  /** The folder the path is relative to: the project, or a run's own copy of it. */
  root: string;
  /** With forward slashes; empty if the change as a whole could not be kept. */
  path: string;
  source: ChangeSource;
  before: FileState;
  /** Known beforehand for an undo or a merge, and for what was found after the fact. */
  after?: FileState;
  /** Whether it has happened already. */
  done: boolean;
  /** The change that it came before although it was found later. */
  beforeChange?: string;
  /** Why it could not be kept. */
  note?: string;
};

/** One kept change, in the order things happened to the path. */
export type FileChange = {
  changeId: string;
  sessionId: string;
  runId: string;
  aboutRun: string | null;
  messageId: number | null;
  root: string;
  path: string;
  source: ChangeSource;
  before: FileState;
  /** Meaningless while the change is open and its outcome was not planned. */
  after: FileState;
  /** The outcome is known: it was measured, or it was planned. */
  outcomeKnown: boolean;
  /** The order in which changes were closed; null while open. */
  closedSeq: number | null;
  position: number;
  note: string | null;
};

/** Life of a run's own copy of the project. */
export type WorktreeStatus = "making" | "open" | "kept" | "merged" | "empty" | "removed";

/** A run's own copy of the project. */
export type WorktreeRow = {
  runId: string;
  sessionId: string;
  agent: string;
  /** Where the copy is. */
  path: string;
  /** The folder it was made from, and is merged into. */
  into: string;
  status: WorktreeStatus;
  /** Tree of the files as they were at the start. */
  baseTree: string | null;
  /** The same as a commit on top of the repository's HEAD; null outside git. */
  baseCommit: string | null;
  /** The repository that the hidden ref and the worktree belong to; null outside git. */
  gitDir: string | null;
  /** Ids of the run and its ancestors. */
  line: readonly string[];
  tainted: boolean;
  createdAtMs: number;
};

/** Something that a run wrote while it held untrusted text, and at which no person has looked. */
export type UntrustedNote = {
  id: number;
  /** The folder that it lies in: a project, or a workspace. */
  root: string;
  /** Where the content was written, relative to the root; empty for a span. */
  path: string;
  /** Of the content or the name; null for a span, which stands for everything below the root that changed in it. */
  hash: string | null;
  /** It is not about the content but about the name, such as that of a folder. */
  isName: boolean;
  sinceMs: number | null;
  /** Null while the span lasts, or if nothing is known of its end. */
  untilMs: number | null;
  sessionId: string;
  runId: string;
  notedAt: string;
};
