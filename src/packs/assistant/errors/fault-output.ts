import type { ToolOutput } from "../../../tools/tool.ts";
import { cutText } from "../tool/tool-output.ts";
import { asFault } from "./call-service.ts";

/** A server's words may be as long as it likes. */
const MAX_MESSAGE = 2_000;

/** A failure as the tools of this pack tell it: JSON that names its kind and whether a later attempt can help. */
export function faultOutput(thrown: unknown, tool: string): ToolOutput {
  const fault = asFault(thrown);
  const { type, recoverable, retryAfterMs = Number.NaN } = fault;
  const message = cutText(fault.message, MAX_MESSAGE);
  const retryAfter = Number.isFinite(retryAfterMs) ? { retry_after: Math.ceil(retryAfterMs / 1_000) } : {};
  return {
    text: JSON.stringify({ error: { type, message, tool, recoverable, ...retryAfter } }),
    isError: true,
  };
}
