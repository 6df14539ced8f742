// Faults of services, and what every provider has in common.

import { messageOf } from "@retinue/core/schema/error";

/** Kinds of faults, by what helps against them. */
export type FaultType = "auth" | "params" | "network" | "rate_limit" | "permission" | "tool_error";

/** What every provider of a service has. Its methods raise `ToolFault` and nothing else; none repeats a request by itself. */
export type ServiceProvider<Kind extends string> = {
  readonly kind: Kind;
  /** Gets a new token after the old one was refused; absent where there is none to get. */
  refresh?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void> | void;
};

/** Faults that a later attempt, or a person who signs in again, can fix. */
const RECOVERABLE: ReadonlySet<string> = new Set(["auth", "network", "rate_limit"] satisfies FaultType[]);

/** A failure of a service, as every adapter raises it; callers rely on nothing else. */
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

/** Any error as a fault; an unknown one is a `tool_error`, whose message begins with `failure`. */
export function toFault(thrown: unknown, failure?: string): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  const message = failure ? `${failure}: ${messageOf(thrown).slice(0, 300)}` : messageOf(thrown);
  return new ToolFault("tool_error", message, { cause: thrown });
}

/** The same provider, whose methods begin nothing for a call that was stopped and raise nothing but faults. */
export function guardProvider<Provider extends object>(provider: Provider, failure: string): Provider {
  return new Proxy(provider, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...given: unknown[]): Promise<unknown> => {
        if (given.some((each) => each instanceof AbortSignal && each.aborted))
          throw new ToolFault("network", "the call was stopped");
        try {
          return await Reflect.apply(method, target, given);
        } catch (thrown) {
          throw toFault(thrown, failure);
        }
      };
    },
  });
}

/** Whether something thrown is a fault of one of these types. */
export function isServiceFault(thrown: unknown, ...types: readonly FaultType[]): thrown is ToolFault {
  return thrown instanceof ToolFault && types.includes(thrown.type);
}
