import { messageOf, RetinueError } from "../../schema/error.ts";
import type { Settings } from "../../schema/settings.ts";
import type { HostPlaces } from "../../tools/tool.ts";
import type { Service } from "./accounts/account.ts";
import { openAccount } from "./accounts/open-account.ts";
import { LOCAL, type Picked, pickAccount } from "./accounts/pick-account.ts";
import type { Assistant } from "./assistant.ts";
import { ToolFault } from "./errors/tool-fault.ts";
import { localStoreOf, openLocalStore, zoneOf } from "./local-store.ts";
import { closeProviders, type Providers } from "./providers.ts";

const byRuntime = new WeakMap<HostPlaces, Assistant>();

/** The assistant of a runtime: one for all of its tools, which opens nothing before a tool asks for it. */
export function assistantOf(settings: Settings, places: HostPlaces): Assistant {
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
  const zone = once(() => zoneOf(wanted, places));
  let isClosed = false;

  /** A failed opening is forgotten, so that the next call tries anew. */
  function open(id: string, make: () => Promise<Providers>): Promise<Providers> {
    const known = opened.get(id);
    if (known) return known;
    const opening = make();
    opened.set(id, opening);
    opening.catch(() => opened.delete(id));
    return opening;
  }

  /** One answer for the life of the assistant: what a person approved for one account never goes out by another. */
  function pick(service: Service): Promise<Picked> {
    const known = picked.get(service);
    if (known) return known;
    const picking = pickAccount(service, wanted, places);
    picked.set(service, picking);
    picking.catch(() => picked.delete(service));
    return picking;
  }

  async function provider<Name extends Service>(service: Name): Promise<NonNullable<Providers[Name]>> {
    if (isClosed) throw new ToolFault("tool_error", "the assistant is closed");
    try {
      const { account, hasAny } = await pick(service);
      const how = { zone: zone(), now };
      const providers = account
        ? await open(account.id, () => openAccount(account, places, how))
        : await open(LOCAL, async () => openLocalStore(localStoreOf(wanted, places, { hasAny }), how));
      const found = providers[service];
      if (found) return found;
      throw new ToolFault("tool_error", `account '${account?.id ?? LOCAL}' serves no ${service}`);
    } catch (thrown) {
      throw asFault(thrown, service);
    }
  }

  return {
    mail: () => provider("mail"),
    calendar: () => provider("calendar"),
    contacts: () => provider("contacts"),
    slack: () => provider("slack"),
    internalDomains: (wanted.internalDomains ?? []).map((domain) => domain.toLowerCase().replace(/^@/, "")),
    get zone() {
      return zone();
    },
    now,
    async close() {
      isClosed = true;
      const all = await Promise.allSettled(opened.values());
      opened.clear();
      for (const each of all) if (each.status === "fulfilled") await closeProviders(each.value);
    },
  };
}

/** Tools know faults only; what a person must fix comes with its remedy. */
function asFault(thrown: unknown, service: Service): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  if (!(thrown instanceof RetinueError))
    return new ToolFault("tool_error", `${service} cannot be opened: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  const message = thrown.hint ? `${thrown.message}; ${thrown.hint}` : thrown.message;
  return new ToolFault(thrown.code === "auth" ? "auth" : "tool_error", message, { cause: thrown });
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
