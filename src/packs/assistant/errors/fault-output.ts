import type { ToolOutput } from "../../../tools/tool.ts";
import { asFault } from "./call-service.ts";

/** A failure as the tools of this pack tell it: JSON that names its kind and whether a later attempt can help. */
export function faultOutput(thrown: unknown, tool: string): ToolOutput {
  const { type, message, recoverable, retryAfterMs } = asFault(thrown);
  const retryAfter = retryAfterMs === undefined ? {} : { retry_after: Math.ceil(retryAfterMs / 1_000) };
  return {
    text: JSON.stringify({ error: { type, message, tool, recoverable, ...retryAfter } }),
    isError: true,
  };
}
