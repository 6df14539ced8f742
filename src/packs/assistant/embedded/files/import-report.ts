import { messageOf } from "../../../../schema/error.ts";

/** How many of each there are. */
export type Counts = { mails: number; events: number; contacts: number; channels: number; messages: number };

/** What an import did. */
export type ImportReport = {
  /** What is new in the store. */
  readonly counts: Counts;
  /** How many the store had already. */
  skipped: number;
  /** What could not be read; it kept nothing else from being imported. */
  readonly problems: { readonly file: string; readonly message: string }[];
};

const MOST_PROBLEMS = 500;

/** Creates a report of nothing. */
export function createReport(): ImportReport {
  return { counts: { mails: 0, events: 0, contacts: 0, channels: 0, messages: 0 }, skipped: 0, problems: [] };
}

/** Counts one thing that was new or known. */
export function count(report: ImportReport, kind: keyof Counts, isNew: boolean): void {
  if (isNew) report.counts[kind]++;
  else report.skipped++;
}

/** Notes what is wrong with a file; hostile files cannot make the list endless. */
export function addProblem(report: ImportReport, file: string, thrown: unknown): void {
  if (report.problems.length >= MOST_PROBLEMS) return;
  report.problems.push({ file, message: messageOf(thrown).slice(0, 500) });
}
