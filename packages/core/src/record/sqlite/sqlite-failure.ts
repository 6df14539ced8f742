import { messageOf, RetinueError } from "../../schema/error.ts";
import { findOwn } from "../../schema/find-own.ts";

/** What went wrong with a database: its surroundings, the file itself, or one row that can never be written. */
export type FailureKind = "busy" | "memory" | "permission" | "disk" | "corrupt" | "full" | "row" | "other";

/** Primary result codes of SQLite that Retinue tells apart. */
const PRIMARY: Readonly<Record<string, FailureKind>> = {
  5: "busy",
  6: "busy",
  7: "memory",
  3: "permission",
  8: "permission",
  14: "permission",
  10: "disk",
  11: "corrupt",
  26: "corrupt",
  13: "full",
  18: "row",
  19: "row",
  20: "row",
  25: "row",
};
/** System codes that come from the machine and say nothing about the program. */
const MACHINE: Readonly<Record<string, FailureKind>> = {
  EACCES: "permission",
  EPERM: "permission",
  EROFS: "permission",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EIO: "disk",
  EMFILE: "memory",
  ENFILE: "memory",
  ENOMEM: "memory",
};
const SYSTEM: Readonly<Record<string, FailureKind>> = {
  ...MACHINE,
  ENOTDIR: "permission",
  ENOENT: "permission",
  EISDIR: "permission",
  EEXIST: "permission",
};

const HINTS: Record<FailureKind, string> = {
  busy: "Another process holds the database; end it or wait.",
  memory: "Free some memory, or let processes open more files (ulimit -n).",
  permission:
    "Check that the folder exists, is on a writable disk and belongs to you, or set RETINUE_HOME to another folder.",
  disk: "The disk reports errors; check it, or set RETINUE_HOME to a folder on another disk.",
  corrupt: "Start Retinue again: it sets the damaged file aside and begins a new one.",
  full: "Free some disk space.",
  row: "This is a defect in the program that wrote the row; please report it.",
  other: "Check the database file and its folder.",
};

/** Sorts anything that SQLite or the file system threw. */
export function failureKind(thrown: unknown): FailureKind {
  if (!(thrown instanceof Error)) return "other";
  if ("errcode" in thrown && typeof thrown.errcode === "number")
    return findOwn(PRIMARY, String(thrown.errcode & 0xff)) ?? "other";
  if ("code" in thrown && typeof thrown.code === "string") {
    if (thrown.code.startsWith("ERR_INVALID_ARG")) return "row";
    return findOwn(SYSTEM, thrown.code) ?? "other";
  }
  return thrown instanceof TypeError || thrown instanceof RangeError ? "row" : "other";
}

/** The remedy a person is told for a kind of failure. */
export function hintFor(kind: FailureKind): string {
  return HINTS[kind];
}

/** The same failure as an error for a person, naming what was tried; a RetinueError passes through. */
export function storeError(what: string, thrown: unknown): RetinueError {
  if (thrown instanceof RetinueError) return thrown;
  return new RetinueError("store", `${what}: ${messageOf(thrown)}`, hintFor(failureKind(thrown)), {
    cause: thrown,
  });
}

const KINDS_OF_THE_MACHINE: ReadonlySet<FailureKind> = new Set([...Object.values(MACHINE), "busy"]);
/** What programs such as git say of the same. */
const IN_WORDS: readonly (readonly [RegExp, FailureKind])[] = [
  [/no space left on device|disk quota exceeded|database or disk is full/i, "full"],
  [/read-only file system/i, "permission"],
  [/input\/output error|disk i\/o error/i, "disk"],
];

/**
 * An error for a person if a disk that is full, broken or not writable, or the like, is behind what was thrown; undefined
 * if it may be a defect of the program.
 */
export function machineFault(thrown: unknown): RetinueError | undefined {
  if (thrown instanceof RetinueError) return thrown;
  for (
    let each: unknown = thrown, depth = 0;
    each instanceof Error && depth < 5;
    each = each.cause, depth++
  ) {
    const kind = machineKind(each);
    if (kind) return new RetinueError("store", messageOf(thrown), hintFor(kind), { cause: thrown });
  }
  return undefined;
}

function machineKind(thrown: Error): FailureKind | undefined {
  const hasCode = "code" in thrown && typeof thrown.code === "string" && Object.hasOwn(MACHINE, thrown.code);
  if (hasCode || "errcode" in thrown) {
    const kind = failureKind(thrown);
    if (KINDS_OF_THE_MACHINE.has(kind)) return kind;
  }
  return IN_WORDS.find(([words]) => words.test(thrown.message))?.[1];
}
