import type { AnyTool } from "../../tools/tool.ts";
import { functionToolOf } from "../../tools/validate-input.ts";
import type { Run } from "../run.ts";

/** Fewer bytes than a token of ordinary text has, so that the estimate errs on the high side. */
const BYTES_PER_TOKEN = 3;
const TOKENS_PER_MESSAGE = 8;

const toolChars = new WeakMap<AnyTool, number>();

/** Input tokens the next call will have at most: what the last call measured, plus an estimate of what came since. */
export function estimateInputTokens(run: Run): number {
  const unmeasured = Math.max(0, run.contextBytes - run.measured.bytes);
  const estimated =
    run.measured.tokens + estimateTokens(unmeasured) + run.history.length * TOKENS_PER_MESSAGE;
  return run.measured.tokens > 0 ? estimated : estimated + estimateTokens(toolBytes(run));
}

/** Tokens a text of so many bytes has at most, unless it is a very dense one. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Bytes that the next call sends: the conversation and the tools. */
export function countSentBytes(run: Run): number {
  return run.contextBytes + toolBytes(run);
}

function toolBytes(run: Run): number {
  let chars = 0;
  for (const tool of run.spec.tools.values()) {
    let size = toolChars.get(tool);
    if (size === undefined) {
      size = JSON.stringify(functionToolOf(tool)).length;
      toolChars.set(tool, size);
    }
    chars += size;
  }
  return chars;
}
