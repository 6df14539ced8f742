/** A file of the workbench: the session it belongs to, and its path there. */
export type RemoteFile = { readonly session: string; readonly path: string };

/** What a file holds, in so far as two sides can compare it. */
export type FileFacts = { readonly size: number; readonly sha256: string };

/** Bytes of a file from a place in it on, with their own checksum. */
export type Chunk = { readonly offset: number; readonly bytes: Uint8Array; readonly sha256: string };

/** An upload that the far side knows of. */
export type Upload = {
  readonly id: string;
  readonly file: RemoteFile;
  readonly facts: FileFacts;
  /** Bytes that the far side has. */
  readonly received: number;
};

/**
 * A place elsewhere where files are worked on. Each method is one exchange, and all of them may be repeated: what was
 * begun is found again by its content, and nothing shows under a file's name before the whole of it is there and right.
 * They reject only with `WorkbenchError`, or when `signal` ends them.
 */
export type Workbench = {
  readonly name: string;
  /** Hosts that it talks to, which rules may name. */
  readonly hosts: readonly string[];
  /** What a file holds; null if there is none. */
  stat(file: RemoteFile, signal: AbortSignal): Promise<FileFacts | null>;
  /** Begins an upload, or finds what an earlier one of the same content has left. */
  begin(file: RemoteFile, facts: FileFacts, signal: AbortSignal): Promise<Upload>;
  /** Adds a chunk; says how many bytes of the file are there now. */
  send(upload: Upload, chunk: Chunk, signal: AbortSignal): Promise<number>;
  /** Checks the whole and gives it its name. */
  finish(upload: Upload, signal: AbortSignal): Promise<FileFacts>;
  /** Reads at most `length` bytes of the file that has this checksum. */
  read(file: RemoteFile, part: ChunkRequest, signal: AbortSignal): Promise<Chunk>;
  close(): Promise<void>;
};

/** Which bytes are asked for, and of which content. */
export type ChunkRequest = { readonly offset: number; readonly length: number; readonly sha256: string };

/** Why an exchange failed. */
export type WorkbenchFailure =
  /** No answer, or one that says to come again. */
  | "unreachable"
  /** The upload is not known there any more, or what arrived of it was wrong. */
  | "lost"
  /** The file is another one now. */
  | "changed"
  | "not_found"
  | "refused"
  /** The answer makes no sense. */
  | "protocol";

/** An exchange with the workbench that failed. Never holds text of the far side. */
export class WorkbenchError extends Error {
  readonly failure: WorkbenchFailure;

  constructor(failure: WorkbenchFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "WorkbenchError";
    this.failure = failure;
  }
}

const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const MAX_PATH_CHARS = 1_024;
const MAX_NAME_BYTES = 255;

/** What is wrong with a path on the workbench; null if nothing. */
export function findPathFault(path: string): string | null {
  const names = path.split("/");
  if (path.length > MAX_PATH_CHARS) return `remote_path has more than ${MAX_PATH_CHARS} characters`;
  if (/[\p{Cc}\\]/u.test(path)) return "remote_path must not hold control characters or backslashes";
  if (names.some((name) => name === "" || name === "." || name === ".."))
    return "remote_path must be relative, such as work/data.json, without empty parts, '.' or '..'";
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return "a name in remote_path is too long";
  return path.isWellFormed() ? null : "remote_path is not valid text";
}

/** What is wrong with a session id of the workbench; null if nothing. */
export function findSessionFault(session: string): string | null {
  return SESSION.test(session) ? null : "session_id must be letters, digits, '.', '_' or '-', at most 128";
}
