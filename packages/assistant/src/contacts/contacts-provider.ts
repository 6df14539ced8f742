import { foldText } from "../service-tools/tool-output.ts";

/** One person or list of the address book. */
export type Contact = {
  readonly id: string;
  readonly name: string;
  /** The preferred one first. */
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly organization?: string;
  readonly title?: string;
  readonly notes?: string;
  /** Set for a list such as "team": the addresses of its members. */
  readonly members?: readonly string[];
};

/** What to look for; all given fields must match. */
type ContactQuery = {
  /** Anywhere in the contact. */
  readonly text?: string;
  readonly name?: string;
  readonly organization?: string;
  readonly email?: string;
  readonly limit: number;
};

/** An address book. Every method raises `ToolFault` and nothing else; none repeats a request by itself. */
export type ContactsProvider = {
  readonly kind: "embedded" | "google" | "carddav";
  search(
    query: ContactQuery,
    signal: AbortSignal,
  ): Promise<{ readonly contacts: readonly Contact[]; readonly total: number }>;
  get(id: string, signal: AbortSignal): Promise<Contact>;
  organizations(
    signal: AbortSignal,
  ): Promise<readonly { readonly name: string; readonly contacts: number }[]>;
  refresh?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void> | void;
};

/** Whether a contact has every word a query asks for in the right field; `more` counts as its text. */
export function matchesContact(contact: Contact, query: ContactQuery, more: readonly string[] = []): boolean {
  const { name, emails, phones, organization = "", title = "", notes = "" } = contact;
  const asked = [
    [query.text, [name, ...emails, ...phones, organization, title, notes, ...more]],
    [query.name, [name]],
    [query.organization, [organization]],
    [query.email, emails],
  ] as const;
  return asked.every(([wanted, texts]) => {
    const text = foldText(texts.join("\n"));
    return (
      wanted === undefined ||
      foldText(wanted)
        .split(/\s+/)
        .every((word) => text.includes(word))
    );
  });
}

/** The organisations of these contacts, those with most contacts first. */
export function countOrganizations(
  contacts: readonly Contact[],
): { readonly name: string; readonly contacts: number }[] {
  const groups = Map.groupBy(contacts, ({ organization = "" }) => foldText(organization));
  groups.delete("");
  return [...groups.values()]
    .map((group) => ({ name: group[0]?.organization ?? "", contacts: group.length }))
    .sort((a, b) => b.contacts - a.contacts || (a.name < b.name ? -1 : 1));
}
