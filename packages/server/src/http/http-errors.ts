import { machineFault } from "@retinue/core/record/sqlite/sqlite-failure";
import type { ApiError } from "@retinue/core/schema/api/inspect";
import type { RetinueErrorCode } from "@retinue/core/schema/error";

type RefusalDetails = { code?: string; hint?: string | null; headers?: Readonly<Record<string, string>> };

/** A request that is refused; the client is told all of it. */
class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { code, hint, headers }: RefusalDetails) {
    super(message);
    this.name = new.target.name;
    this.status = status;
    this.code = code ?? "request";
    this.hint = hint ?? null;
    this.headers = headers ?? {};
  }
}

/** A request that cannot be read, or asks for something impossible. */
export class BadRequest extends RefusedRequest {
  constructor(status: 400 | 405 | 413 | 415 | 429, message: string, details: RefusalDetails = {}) {
    super(status, message, details);
  }
}

/** Something that is not there: answered with 404. */
export class NotFound extends RefusedRequest {
  constructor(message: string, hint: string | null = null) {
    super(404, message, { code: "not_found", hint });
  }
}

/** Something that changed in the meantime: answered with 409. */
export class Conflict extends RefusedRequest {
  constructor(message: string, hint: string | null = null) {
    super(409, message, { code: "conflict", hint });
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
 * The answer to anything that was thrown. The client is told what was written for a person, and what a full or broken disk
 * says. Everything else goes to `onFault`, for the person who runs the server, and the client learns nothing of its insides.
 */
export function answerThrown(thrown: unknown, onFault: (thrown: unknown) => void): Response {
  if (thrown instanceof RefusedRequest) {
    const { status, code, message, hint, headers } = thrown;
    return answerError(status, { code, message, hint }, headers);
  }
  const known = machineFault(thrown);
  if (known) {
    const { code, message, hint = null } = known;
    return answerError(STATUS[code], { code, message, hint });
  }
  onFault(thrown);
  const hint = "the terminal of `retinue serve` says what; please report it";
  return answerError(500, { code: "internal", message: "something went wrong inside the server", hint });
}
