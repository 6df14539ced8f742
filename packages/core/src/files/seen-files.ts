import { createHash } from "node:crypto";

/** A bounded memory: what was used longest ago goes first, so that runs that ended are forgotten. */
type Memory<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): void };

/** What a file held at one state of its metadata; `mark` is new whenever the memory of it was lost. */
type Reading = { state: string; mark: number; version?: string };

const MAX_ENTRIES = 5_000;

/** The version of a file that a run saw last, by run and path. */
const seen = createMemory<string>();
/** Which run wrote a file last, and what, by path. */
const writers = createMemory<{ runId: string; version: string }>();
/** What reading a file gave last, by path. */
const readings = createMemory<Reading>();
const turns = new Map<string, Promise<unknown>>();
let marks = 0;

/** What tells one content of a file from another. */
export function versionOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64");
}

/** Notes that a run has this version of a file before it: it read it or wrote it. */
export function noteSeen(runId: string, path: string, version: string): void {
  seen.set(keyOf(runId, path), version);
}

/** Notes that a run has written this version of a file, which it thereby has before it. */
export function noteWritten(runId: string, path: string, version: string): void {
  writers.set(path, { runId, version });
  noteSeen(runId, path, version);
}

/** The version of a file that another run wrote last; undefined if none did. */
export function othersVersion(runId: string, path: string): string | undefined {
  const last = writers.get(path);
  return last?.runId === runId ? undefined : last?.version;
}

/** The version of the file that the run saw last; undefined if it never saw one or that is forgotten. */
export function seenVersion(runId: string, path: string): string | undefined {
  return seen.get(keyOf(runId, path));
}

/** Notes what a file held while its metadata were in `state`. */
export function noteReading(path: string, state: string, version: string): void {
  readings.set(path, { ...readingAt(path, state), version });
}

/**
 * A name for the state of a file under which a result of reading it may be kept for other runs. A run that is given such
 * a result has seen that version too; if it is not known which one it was, the name is new and nothing is found under it.
 */
export function stateName(path: string, state: string, runId: string | undefined): string {
  const reading = readingAt(path, state);
  readings.set(path, reading);
  if (runId !== undefined && reading.version !== undefined) noteSeen(runId, path, reading.version);
  return `${path}:${state}:${reading.mark}`;
}

/** Does work on a file after all other work on the same file in this process has ended. */
export function inTurn<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const mine = (turns.get(path) ?? Promise.resolve()).then(work);
  const settled = mine.then(
    () => {},
    () => {},
  );
  turns.set(path, settled);
  void settled.then(() => {
    if (turns.get(path) === settled) turns.delete(path);
  });
  return mine;
}

function readingAt(path: string, state: string): Reading {
  const known = readings.get(path);
  return known?.state === state ? known : { state, mark: ++marks };
}

function keyOf(runId: string, path: string): string {
  return `${runId}\0${path}`;
}

function createMemory<Value>(): Memory<Value> {
  const entries = new Map<string, Value>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.keys().next().value;
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
    },
  };
}
