import type { Contact, ContactQuery } from "../contacts/contacts-provider.ts";

/** Text as it is compared: without case and accents. */
function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether every word of `wanted` stands somewhere in one of the texts. */
function holds(texts: readonly (string | undefined)[], wanted: string): boolean {
  const all = folded(texts.filter((text) => text !== undefined).join("\n"));
  return folded(wanted)
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** Whether a contact has everything a query asks for. */
export function matchContact(contact: Contact, query: ContactQuery): boolean {
  const { name, emails, phones, organization, title, notes } = contact;
  const asked: [string | undefined, readonly (string | undefined)[]][] = [
    [query.text, [name, ...emails, ...phones, organization, title, notes]],
    [query.name, [name]],
    [query.organization, [organization]],
    [query.email, emails],
  ];
  return asked.every(([wanted, texts]) => wanted === undefined || holds(texts, wanted));
}

/** The organisations of these contacts, those with most contacts first. */
export function organizationsOf(
  contacts: readonly Contact[],
): { readonly name: string; readonly contacts: number }[] {
  const counts = new Map<string, { name: string; contacts: number }>();
  for (const { organization } of contacts) {
    if (!organization) continue;
    const one = counts.get(folded(organization)) ?? { name: organization, contacts: 0 };
    counts.set(folded(organization), { ...one, contacts: one.contacts + 1 });
  }
  return [...counts.values()].sort((a, b) => b.contacts - a.contacts || (a.name < b.name ? -1 : 1));
}
