import { setImmediate } from "node:timers/promises";
import { messageOf } from "../../../schema/error.ts";
import { ToolFault } from "../errors/tool-fault.ts";

/** Does a provider's work so that nothing but a `ToolFault` comes out of it. */
export async function guarded<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  if (signal.aborted) throw new ToolFault("tool_error", "The call was cancelled.");
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ToolFault) throw thrown;
    throw new ToolFault("tool_error", `The local store failed: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** Lets others come to their turn within long work; raises a fault if the call was cancelled meanwhile. */
export async function breathe(signal: AbortSignal): Promise<void> {
  await setImmediate();
  if (signal.aborted) throw new ToolFault("tool_error", "The call was cancelled.");
}

/** A text for comparison: without case and accents. */
export function foldText(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().trim();
}
