// The one way to a service: retries, waits, new tokens, and never the same write twice.

import { setTimeout as pause } from "node:timers/promises";
import type { Service, ServiceProviders } from "../accounts/accounts.ts";
import type { Assistant } from "../assistant.ts";
import { type FaultType, type ServiceProvider, ToolFault, toFault } from "./tool-fault.ts";

/** How a call waits and varies its waits; tests give their own. */
export type CallPatience = {
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** From 0 up to 1. */
  readonly random?: (() => number) | undefined;
};

/** For whom a service is called, and how a write is found again. */
type ServiceCall<Value> = CallPatience & {
  /** The tool that calls, for messages. */
  readonly tool: string;
  readonly signal: AbortSignal;
  /** Set for a write: asks the service whether it has happened; its outcome, or null if it has not. */
  readonly write?: { lookup(signal: AbortSignal): Promise<Value | null> } | undefined;
};

/** The part of a provider that renews a refused token. */
type Refreshable = Pick<ServiceProvider<string>, "refresh">;

const RETRIES: Readonly<Record<FaultType, number>> = {
  auth: 1,
  rate_limit: 2,
  network: 3,
  params: 0,
  permission: 0,
  tool_error: 0,
};
const LONGEST_WAIT_MS = 60_000;
const READ_BASE_MS = 500;
/** A service needs a moment until it finds what it has just stored. */
const SLOW_BASE_MS = 1_000;
/** After these faults it is unknown whether a write happened. */
const LEAVES_DOUBT: ReadonlySet<FaultType> = new Set(["network", "tool_error"]);

/** What the tools of this pack work with. */
export type ToolDesk = CallPatience & { readonly assistant: Assistant };

/** One request to a service; with `lookup` it is a write that is asked for before it is repeated. */
type Ask<Provider> = <Value>(
  what: (provider: Provider, signal: AbortSignal) => Promise<Value>,
  lookup?: (provider: Provider, signal: AbortSignal) => Promise<Value | null>,
) => Promise<Value>;

/** A person's services, each request under the error policy. */
export type Services = { readonly [Name in Service]: Ask<ServiceProviders[Name]> } & {
  readonly assistant: Pick<Assistant, "internalDomains" | "zone" | "now">;
};

/**
 * The one way to a service. A refused token is renewed once, a rate limit is waited out twice, a lost connection is tried
 * three more times; every other fault is final. A write is looked up before it is repeated and before it is given up.
 */
export async function callService<Value>(
  provider: Refreshable,
  what: (signal: AbortSignal) => Promise<Value>,
  options: ServiceCall<Value>,
): Promise<Value> {
  const { signal, write } = options;
  const used = new Map<FaultType, number>();
  let isDoubtful = false;
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    let isUnderWay = false;
    try {
      if (write && attempt > 0) {
        const found = await write.lookup(signal);
        if (found !== null) return found;
      }
      isUnderWay = true;
      return await what(signal);
    } catch (thrown) {
      const fault = toFault(thrown);
      // A look-up that failed leaves what was known before it.
      if (isUnderWay) isDoubtful = LEAVES_DOUBT.has(fault.type);
      signal.throwIfAborted();
      const times = used.get(fault.type) ?? 0;
      used.set(fault.type, times + 1);
      const last = isFinal(fault, times, provider) ? fault : await recover(fault, times, provider, options);
      if (last && write && isDoubtful) return await lookOnceMore(last, write.lookup, options);
      if (last) throw last;
    }
  }
}

function isFinal(fault: ToolFault, times: number, provider: Refreshable): boolean {
  if (times >= RETRIES[fault.type] || !fault.recoverable) return true;
  if (fault.type === "auth") return !provider.refresh;
  return (fault.retryAfterMs ?? 0) > LONGEST_WAIT_MS;
}

/** Waits or renews the token before the next attempt; returns the fault if that fails. */
async function recover(
  fault: ToolFault,
  times: number,
  provider: Refreshable,
  { signal, write, sleep = defaultSleep, random = Math.random }: ServiceCall<unknown>,
): Promise<ToolFault | undefined> {
  const base = fault.type === "network" && !write ? READ_BASE_MS : SLOW_BASE_MS;
  const growing = base * 2 ** times * (0.5 + random() / 2);
  try {
    if (fault.type === "auth") await provider.refresh?.(signal);
    else await sleep(Math.max(0, fault.retryAfterMs ?? growing), signal);
    return undefined;
  } catch (thrown) {
    signal.throwIfAborted();
    return toFault(thrown);
  }
}

/** The answer to a write may be lost although the write is not: only the service can tell. */
async function lookOnceMore<Value>(
  fault: ToolFault,
  lookup: (signal: AbortSignal) => Promise<Value | null>,
  { tool, signal }: ServiceCall<Value>,
): Promise<Value> {
  let found: Value | null;
  try {
    found = await lookup(signal);
  } catch {
    signal.throwIfAborted();
    const doubt = `it is not known whether '${tool}' took effect; find out before you repeat it`;
    throw new ToolFault(fault.type, `${fault.message} (${doubt})`, { recoverable: false, cause: fault });
  }
  if (found === null) throw fault;
  return found;
}

function defaultSleep(ms: number, signal: AbortSignal): Promise<unknown> {
  return pause(ms, undefined, { signal });
}

/** The services as one call of a tool uses them. */
export function createServices(
  { assistant, ...patience }: ToolDesk,
  tool: string,
  signal: AbortSignal,
): Services {
  const asking =
    <Name extends Service>(service: Name): Ask<ServiceProviders[Name]> =>
    async (what, lookup) => {
      const provider = await assistant.open(service);
      const write = lookup && { lookup: (during: AbortSignal) => lookup(provider, during) };
      return callService(provider, (during) => what(provider, during), { ...patience, tool, signal, write });
    };
  return {
    mail: asking("mail"),
    calendar: asking("calendar"),
    contacts: asking("contacts"),
    slack: asking("slack"),
    assistant,
  };
}
