import type { Contact, ContactQuery, ContactsProvider } from "../contacts/contacts-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { type GoogleApi, guarded } from "./google-api.ts";
import { loadDirectory, PERSON_FIELDS, readPerson } from "./google-directory.ts";

/** Recipients of one message are resolved one by one; the address book is not read anew for each. */
const FRESH_MS = 60_000;

/** The address book at Google. Its own search needs a warm-up and misses fresh entries, so the filter is ours. */
export function createGoogleContacts(api: GoogleApi<"people">): ContactsProvider {
  let kept: { readonly contacts: readonly Contact[]; readonly at: number } | undefined;

  const directory = async (signal: AbortSignal): Promise<readonly Contact[]> => {
    if (!kept || performance.now() - kept.at > FRESH_MS) {
      kept = { contacts: await loadDirectory(api, signal), at: performance.now() };
    }
    return kept.contacts;
  };

  return {
    kind: "google",
    refresh: api.refresh,
    search: (query, signal) =>
      guarded("the contacts", async () => {
        const found = (await directory(signal)).filter((contact) => matches(contact, query));
        return { contacts: found.slice(0, query.limit), total: found.length };
      }),
    get: (id, signal) =>
      guarded(`contact '${id}'`, async () => {
        if (/^people\/\w+$/.test(id)) {
          const person = await api.request(`contact '${id}'`, signal, (client, options) =>
            client.people.get({ resourceName: id, personFields: PERSON_FIELDS }, options),
          );
          return readPerson(person);
        }
        const list = (await directory(signal)).find((contact) => contact.id === id);
        if (!list) throw new ToolFault("params", `Google has no contact '${id}'`);
        return list;
      }),
    organizations: (signal) =>
      guarded("the contacts", async () => {
        const counts = new Map<string, { name: string; contacts: number }>();
        for (const { organization } of await directory(signal)) {
          if (!organization) continue;
          const known = counts.get(fold(organization));
          if (known) known.contacts++;
          else counts.set(fold(organization), { name: organization, contacts: 1 });
        }
        return [...counts.values()].sort((one, other) => one.name.localeCompare(other.name, "en"));
      }),
  };
}

/** Every word that is asked for stands in its field; case and accents do not matter. */
function matches(contact: Contact, { text, name, organization, email }: ContactQuery): boolean {
  const { emails, phones, members = [] } = contact;
  const work = [contact.organization ?? "", contact.title ?? ""];
  const all = [contact.name, ...emails, ...phones, ...members, ...work, contact.notes ?? ""];
  return (
    hasWords(all, text) &&
    hasWords([contact.name], name) &&
    hasWords(work.slice(0, 1), organization) &&
    hasWords(emails, email)
  );
}

function hasWords(fields: readonly string[], wanted = ""): boolean {
  const content = fold(fields.join(" "));
  return fold(wanted)
    .split(/\s+/)
    .every((word) => content.includes(word));
}

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}
