import type { ApiError } from "../../schema/api/inspect.ts";
import type { RetinueErrorCode } from "../../schema/error.ts";
import { machineFault } from "../../store/file/sqlite-failure.ts";
import { Conflict, NotFound } from "./route.ts";

/** A request that cannot be read or asks for what nobody can do. */
export class BadRequest extends Error {
  readonly status: 400 | 405 | 413 | 415 | 429;
  readonly code: string;
  readonly hint: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: BadRequest["status"],
    message: string,
    more: { code?: string; hint?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = "BadRequest";
    this.status = status;
    this.code = more.code ?? "request";
    this.hint = more.hint ?? null;
    this.headers = more.headers ?? {};
  }
}

/** `auth` is of a provider's key, not of this server's cookie, so it is no 401. */
const STATUS: Readonly<Record<RetinueErrorCode, number>> = {
  usage: 400,
  auth: 422,
  input: 422,
  config: 422,
  limit: 409,
  denied: 403,
  store: 500,
  failed: 500,
};

/** Says no in the way of this API. */
export function answerError(
  status: number,
  error: ApiError["error"],
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body: ApiError = { error };
  return Response.json(body, { status, headers: { ...headers } });
}

/**
 * What anything thrown is answered with. Only what was written for a person is told, and what a full or broken disk says; of everything else, the person who runs
 * the server is told by `onFault`, and whoever asked learns nothing of its insides.
 */
export function answerThrown(thrown: unknown, onFault: (thrown: unknown) => void): Response {
  if (thrown instanceof BadRequest) {
    const { status, code, message, hint, headers } = thrown;
    return answerError(status, { code, message, hint }, headers);
  }
  if (thrown instanceof NotFound)
    return answerError(404, { code: "not_found", message: thrown.message, hint: thrown.hint });
  if (thrown instanceof Conflict)
    return answerError(409, { code: "conflict", message: thrown.message, hint: thrown.hint });
  const known = machineFault(thrown);
  if (known) {
    const { code, message, hint = null } = known;
    return answerError(STATUS[code], { code, message, hint });
  }
  onFault(thrown);
  const hint = "the terminal of `retinue serve` says what; please report it";
  return answerError(500, { code: "internal", message: "something went wrong inside the server", hint });
}
