import type { AnyTool } from "../../tools/tool.ts";
import { functionToolOf } from "../../tools/validate-input.ts";
import type { Run } from "../run.ts";

/** Fewer bytes than a token of ordinary text has, so that the estimate errs on the high side. */
const BYTES_PER_TOKEN = 3;
const TOKENS_PER_MESSAGE = 8;

const toolChars = new WeakMap<AnyTool, number>();

/** Input tokens the next call will have at most: what the last call measured, plus an estimate of what came since. */
export function estimateInputTokens(run: Run, withTools: boolean): number {
  const unmeasured = Math.max(0, run.contextBytes - run.measured.bytes);
  const estimated =
    run.measured.tokens + Math.ceil(unmeasured / BYTES_PER_TOKEN) + run.history.length * TOKENS_PER_MESSAGE;
  return run.measured.tokens > 0 || !withTools ? estimated : estimated + toolTokens(run);
}

/** Output tokens a text has at most. */
export function estimateOutputTokens(chars: number): number {
  return Math.ceil(chars / BYTES_PER_TOKEN);
}

function toolTokens(run: Run): number {
  let chars = 0;
  for (const tool of run.spec.tools.values()) {
    let size = toolChars.get(tool);
    if (size === undefined) {
      size = JSON.stringify(functionToolOf(tool)).length;
      toolChars.set(tool, size);
    }
    chars += size;
  }
  return Math.ceil(chars / BYTES_PER_TOKEN);
}
