// The address book at Google.

import type { people_v1 } from "@googleapis/people";
import { type Contact, type ContactsProvider, createAddressBook } from "../contacts/contacts-provider.ts";
import { eachPage } from "../service-tools/service-requests.ts";
import type { GoogleApi, GoogleAsk } from "./google-session.ts";

/** Recipients of one message are resolved one by one; the address book is not read again for each. */
const FRESH_MS = 60_000;

type Ask = GoogleAsk<"people">;
type Person = people_v1.Schema$Person;

/** Fields that a contact is made of. */
const PERSON_FIELDS = "names,emailAddresses,phoneNumbers,organizations,biographies,memberships";
/** More contacts than these are not read. */
const MOST_CONTACTS = 2_000;
const PAGE = 1_000;

/** The address book at Google. Its own search needs a warm-up and misses fresh entries, so the filter is ours. */
export function createGoogleContacts(api: GoogleApi<"people">): ContactsProvider {
  const load = (signal: AbortSignal) => loadDirectory(api.during(signal));
  return createAddressBook({ kind: "google", refresh: api.refresh, freshMs: FRESH_MS, load });
}

/** People and lists of the address book, people first. */
async function loadDirectory(ask: Ask): Promise<readonly Contact[]> {
  const people = await listPeople(ask);
  const { contactGroups = [] } = await ask("the contact lists", (client, options) =>
    client.contactGroups.list({ pageSize: PAGE }, options),
  );
  const lists = contactGroups
    .filter(({ groupType }) => groupType === "USER_CONTACT_GROUP")
    .map((group) => readGroup(group, people));
  return [...people.map(readPerson).filter(isOfUse), ...lists];
}

/** A person as the tools know them. */
function readPerson(person: Person): Contact {
  const work = sortPreferred(person.organizations)[0];
  const notes = sortPreferred(person.biographies)[0]?.value;
  const emails = listValues(person.emailAddresses);
  const name = sortPreferred(person.names)[0]?.displayName ?? emails[0] ?? work?.name ?? "";
  return {
    id: person.resourceName ?? "",
    name,
    emails,
    phones: listValues(person.phoneNumbers),
    organization: work?.name || undefined,
    title: work?.title || undefined,
    notes: notes || undefined,
  };
}

async function listPeople(ask: Ask): Promise<Person[]> {
  const asked = { resourceName: "people/me", personFields: PERSON_FIELDS, pageSize: PAGE };
  const fetchPage = (pageToken?: string) =>
    ask("the contacts", (client, options) =>
      client.people.connections.list({ ...asked, pageToken }, options),
    );
  const people: Person[] = [];
  for await (const { connections = [] } of eachPage(fetchPage, (page) => page.nextPageToken)) {
    people.push(...connections);
    if (connections.length === 0 || people.length >= MOST_CONTACTS) break;
  }
  return people.slice(0, MOST_CONTACTS);
}

function readGroup(group: people_v1.Schema$ContactGroup, people: readonly Person[]): Contact {
  const isMember = (person: Person) =>
    person.memberships?.some(
      ({ contactGroupMembership: membership }) => membership?.contactGroupResourceName === group.resourceName,
    );
  const members = people.filter(isMember).flatMap((person) => readPerson(person).emails.slice(0, 1));
  const name = group.formattedName ?? group.name ?? "";
  return { id: group.resourceName ?? "", name, emails: [], phones: [], members };
}

function isOfUse({ name, emails, phones }: Contact): boolean {
  return name !== "" || emails.length > 0 || phones.length > 0;
}

function listValues(fields: readonly { value?: string | null; metadata?: Metadata }[] | undefined): string[] {
  const values = sortPreferred(fields).map(({ value }) => value?.trim() ?? "");
  return [...new Set(values.filter(Boolean))];
}

type Metadata = { primary?: boolean | null };

function sortPreferred<Field extends { metadata?: Metadata }>(fields: readonly Field[] = []): Field[] {
  return fields.toSorted((one, other) => Number(isPrimary(other)) - Number(isPrimary(one)));
}

function isPrimary({ metadata }: { metadata?: Metadata }): boolean {
  return metadata?.primary ?? false;
}
