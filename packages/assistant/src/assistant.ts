// A person's services as the tools reach them, each opened at its first use.

import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Settings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { LOCAL, type Picked, pickAccount, type Service, type ServiceProviders } from "./accounts/accounts.ts";
import { closeProviders, openAccount, type Providers } from "./accounts/open-account.ts";
import { chooseLocalStore, findZone, openLocalStore } from "./local-store.ts";
import { ToolFault } from "./service-tools/tool-fault.ts";

/** A person's services, as the tools reach them. A provider is opened at its first use and kept. */
export type Assistant = {
  open<Name extends Service>(service: Name): Promise<ServiceProviders[Name]>;
  /** Domains that count as inside, besides the owner's own; lower case. */
  readonly internalDomains: readonly string[];
  /** IANA name of the zone that times without one are meant in. */
  readonly zone: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Closes what was opened, once: all tools share the services, and each of them closes them. */
  close(): Promise<void>;
};

const byRuntime = new WeakMap<HostPlaces, Assistant>();

/** The assistant of a runtime: one for all of its tools; it opens a service when a tool first asks for it. */
export function findAssistant(settings: Settings, places: HostPlaces): Assistant {
  let assistant = byRuntime.get(places);
  if (!assistant) {
    assistant = createAssistant(settings, places);
    byRuntime.set(places, assistant);
  }
  return assistant;
}

/** An assistant of its own; `now` is the clock. */
export function createAssistant(
  { assistant: wanted = {} }: Pick<Settings, "assistant">,
  places: HostPlaces,
  { now = Date.now }: { now?: () => number } = {},
): Assistant {
  const opened = new Map<string, Promise<Providers>>();
  const picked = new Map<Service, Promise<Picked>>();
  let zone: string | undefined;
  const getZone = () => {
    zone ??= findZone(wanted, places);
    return zone;
  };
  let closing: Promise<void> | undefined;

  /** Picked once for the life of the assistant: what a person approved for one account never goes out by another. */
  const pick = (service: Service) => remember(picked, service, () => pickAccount(service, wanted, places));

  async function open<Name extends Service>(service: Name): Promise<ServiceProviders[Name]> {
    if (closing) throw new ToolFault("tool_error", "the assistant is closed");
    try {
      const { account, hasAny } = await pick(service);
      const how = { zone: getZone(), now };
      const providers: Partial<ServiceProviders> = account
        ? await remember(opened, account.id, () => openAccount(account, places, how))
        : await remember(opened, LOCAL, async () =>
            openLocalStore(chooseLocalStore(wanted, places, { hasAny }), how),
          );
      const found = providers[service];
      if (found) return found;
      throw new ToolFault("tool_error", `account '${account?.id ?? LOCAL}' serves no ${service}`);
    } catch (thrown) {
      throw toOpeningFault(thrown, service);
    }
  }

  return {
    open,
    internalDomains: (wanted.internalDomains ?? []).map((domain) => domain.toLowerCase().replace(/^@/, "")),
    get zone() {
      return getZone();
    },
    now,
    close() {
      closing ??= closeAll(opened.values());
      return closing;
    },
  };
}

async function closeAll(opened: Iterable<Promise<Providers>>): Promise<void> {
  for (const each of await Promise.allSettled(opened))
    if (each.status === "fulfilled") await closeProviders(each.value);
}

/** Tools know only faults, so a hint for the person becomes part of the message. */
function toOpeningFault(thrown: unknown, service: Service): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  if (!(thrown instanceof RetinueError))
    return new ToolFault("tool_error", `${service} cannot be opened: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  const message = thrown.hint ? `${thrown.message}; ${thrown.hint}` : thrown.message;
  return new ToolFault(thrown.code === "auth" ? "auth" : "tool_error", message, { cause: thrown });
}

/** Returns what was made for this key before, or makes it. A failure is forgotten, so that the next call tries again. */
function remember<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, make: () => Promise<Value>) {
  const making = known.get(key) ?? make();
  if (known.has(key)) return making;
  known.set(key, making);
  making.catch(() => known.delete(key));
  return making;
}
