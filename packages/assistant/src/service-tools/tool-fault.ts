import { messageOf } from "@retinue/core/schema/error";

/** What can go wrong with a service, by what helps against it. */
export type FaultType = "auth" | "params" | "network" | "rate_limit" | "permission" | "tool_error";

/** Faults that a later attempt, or a person who signs in again, can fix. */
const RECOVERABLE: ReadonlySet<FaultType> = new Set(["auth", "network", "rate_limit"]);

/** A failure of a service, as every adapter raises it; nothing else of an adapter's errors is relied upon. */
export class ToolFault extends Error {
  readonly type: FaultType;
  /** Whether the same request can succeed later. */
  readonly recoverable: boolean;
  /** How long the service wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    type: FaultType,
    message: string,
    options: { retryAfterMs?: number | undefined; recoverable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolFault";
    this.type = type;
    this.recoverable = options.recoverable ?? RECOVERABLE.has(type);
    const wait = options.retryAfterMs;
    this.retryAfterMs = wait === undefined || Number.isNaN(wait) ? undefined : Math.max(0, wait);
  }
}

/** Does an adapter's work, so that it raises nothing but faults; `failure` begins the message of any other error. */
export async function raiseFaults<Value>(
  failure: string,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ToolFault) throw thrown;
    throw new ToolFault("tool_error", `${failure}: ${messageOf(thrown).slice(0, 300)}`, { cause: thrown });
  }
}

/** Whether something thrown is a fault of one of these types. */
export function isServiceFault(thrown: unknown, ...types: readonly FaultType[]): thrown is ToolFault {
  return thrown instanceof ToolFault && types.includes(thrown.type);
}
