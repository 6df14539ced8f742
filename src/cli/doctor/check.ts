/** How a check came out; `skipped` says nothing about the thing. */
export type Verdict = "ok" | "warning" | "problem" | "skipped";

/** What one check found. */
export type Finding = {
  verdict: Verdict;
  /** One line. */
  summary: string;
  /** More lines, such as files. */
  details?: readonly string[];
  /** A command that mends it. */
  remedy?: string;
  /** The same for programs; never a secret. */
  facts?: Readonly<Record<string, unknown>>;
};

/** One check. It may take as long as it likes: whoever runs it does not wait longer than `patienceMs`. */
export type Check = {
  name: string;
  patienceMs?: number;
  run(signal: AbortSignal): Promise<Finding | readonly Finding[]> | Finding | readonly Finding[];
};

/** Everything is well. */
export function ok(summary: string, more: Omit<Finding, "verdict" | "summary"> = {}): Finding {
  return { verdict: "ok", summary, ...more };
}

/** Something works less well than it could. */
export function warning(summary: string, remedy: string, more: Partial<Finding> = {}): Finding {
  return { ...more, verdict: "warning", summary, remedy };
}

/** Something does not work. */
export function problem(summary: string, remedy: string, more: Partial<Finding> = {}): Finding {
  return { ...more, verdict: "problem", summary, remedy };
}

/** Something was not looked at. */
export function skipped(summary: string, more: Partial<Finding> = {}): Finding {
  return { ...more, verdict: "skipped", summary };
}
