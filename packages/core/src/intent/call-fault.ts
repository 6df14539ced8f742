import type { ErrorType, RunError } from "../schema/result.ts";
import { parseJson } from "../tools/validate-input.ts";
import type { ResponseErrorType, SubAgentResponse } from "./intent-shapes.ts";

/** Why a call failed. */
export type CallFault = NonNullable<SubAgentResponse["error"]> & {
  /** Another input would not help. */
  readonly final: boolean;
};

const TYPES: ReadonlySet<string> = new Set<ResponseErrorType>([
  "auth",
  "params",
  "network",
  "rate_limit",
  "permission",
  "tool_error",
]);

/** What a failed call's text tells: the tool's own words on its fault, or the dispatcher's. */
export function faultOf(tool: string, text: string): CallFault {
  const own = ownFault(text);
  const type =
    own?.type ?? (REFUSED.test(text) ? "permission" : INVALID.test(text) ? "params" : "tool_error");
  return {
    type,
    message: own?.message ?? text,
    tool,
    recoverable: own?.recoverable ?? false,
    final: own ? type !== "params" : type === "permission" || UNKNOWN.test(text),
  };
}

const REFUSED = /^permission denied|^'[\w-]+' needs approval \(/;
const INVALID = /^invalid input for '/;
/** What a crash left open must not be done a second time. */
const UNKNOWN = /^it is not known whether '/;

function ownFault(text: string): { type: ResponseErrorType; message: string; recoverable: boolean } | null {
  if (!text.startsWith("{")) return null;
  const parsed = parseJson(text);
  const { type, message, recoverable } = (parsed.ok && (parsed.value as { error?: RawFault }).error) || {};
  if (typeof type !== "string" || !TYPES.has(type) || typeof message !== "string") return null;
  return { type: type as ResponseErrorType, message, recoverable: recoverable === true };
}

type RawFault = { type?: unknown; message?: unknown; recoverable?: unknown };

/** A failure of the run itself in the response's terms; no tool failed, so the model is named. */
export function faultOfRun({ type, message, recoverable, tool = "model" }: RunError): CallFault {
  return { type: RESPONSE_TYPES[type] ?? "tool_error", message, tool, recoverable, final: true };
}

const RESPONSE_TYPES: Readonly<Partial<Record<ErrorType, ResponseErrorType>>> = {
  auth: "auth",
  params: "params",
  network: "network",
  timeout: "network",
  overloaded: "rate_limit",
  rate_limit: "rate_limit",
  permission: "permission",
  not_allowed: "permission",
  disabled: "permission",
};
