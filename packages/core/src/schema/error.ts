/** What a person must fix. Each code maps to one exit code of the CLI. */
export type RetinueErrorCode =
  | "usage"
  | "auth"
  | "input"
  | "config"
  | "limit"
  | "denied"
  | "store"
  | "failed";

/** An error for a person: names the thing, and `hint` says what to do next. */
export class RetinueError extends Error {
  readonly code: RetinueErrorCode;
  readonly hint: string | undefined;

  constructor(code: RetinueErrorCode, message: string, hint?: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RetinueError";
    this.code = code;
    this.hint = hint;
  }
}

/** What the work gives, or undefined if it throws: for questions to which every failure is the answer that there is nothing. */
export function tryTo<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : String(thrown);
}
