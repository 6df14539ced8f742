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

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : String(thrown);
}
