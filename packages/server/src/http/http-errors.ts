import { machineFault } from "@retinue/core/record/file/sqlite-failure";
import type { ApiError } from "@retinue/core/schema/api/inspect";
import type { RetinueErrorCode } from "@retinue/core/schema/error";

/** A request that cannot be read, or asks for something impossible. */
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
 * the server is told by `onFault`, and the client learns nothing of its insides.
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

/** Something that is not there: answered with 404. */
export class NotFound extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = "NotFound";
    this.hint = hint;
  }
}

/** Something that changed in the meantime: answered with 409. */
export class Conflict extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = "Conflict";
    this.hint = hint;
  }
}
