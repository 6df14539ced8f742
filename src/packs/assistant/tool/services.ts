import type { Assistant } from "../assistant.ts";
import type { CalendarProvider } from "../calendar/calendar-provider.ts";
import type { ContactsProvider } from "../contacts/contacts-provider.ts";
import { type CallPatience, callService, type Refreshable } from "../errors/call-service.ts";
import type { MailProvider } from "../mail/mail-provider.ts";
import type { SlackProvider } from "../slack/slack-provider.ts";

/** What the tools of this pack work with. */
export type Desk = CallPatience & { readonly assistant: Assistant };

/** One request to a service; with `lookup` it is a write that is asked for before it is repeated. */
type Ask<Provider> = <Value>(
  what: (provider: Provider, signal: AbortSignal) => Promise<Value>,
  lookup?: (provider: Provider, signal: AbortSignal) => Promise<Value | null>,
) => Promise<Value>;

/** A person's services, each request under the error policy. */
export type Services = {
  readonly mail: Ask<MailProvider>;
  readonly calendar: Ask<CalendarProvider>;
  readonly contacts: Ask<ContactsProvider>;
  readonly slack: Ask<SlackProvider>;
  readonly assistant: Pick<Assistant, "internalDomains" | "zone" | "now">;
};

/** The services as one call of a tool uses them. */
export function servicesFor({ assistant, ...patience }: Desk, tool: string, signal: AbortSignal): Services {
  const asking =
    <Provider extends Refreshable>(open: () => Promise<Provider>): Ask<Provider> =>
    async (what, lookup) => {
      const provider = await open();
      const write = lookup && { lookup: (during: AbortSignal) => lookup(provider, during) };
      return callService(provider, (during) => what(provider, during), { ...patience, tool, signal, write });
    };
  return {
    mail: asking(() => assistant.mail()),
    calendar: asking(() => assistant.calendar()),
    contacts: asking(() => assistant.contacts()),
    slack: asking(() => assistant.slack()),
    assistant,
  };
}
