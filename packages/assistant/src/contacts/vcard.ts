// Contacts read from vCard text.

import {
  type Component,
  cleanLine,
  findParameter,
  findProperties,
  findProperty,
  findText,
  type Property,
  parseComponents,
} from "../calendar/ical/jcal.ts";
import type { CardFields, Contact } from "./contacts-provider.ts";

/** A contact as its card says it; `memberRefs` name other cards by their UID. */
export type Card = Contact & CardFields;

const MAX_BYTES = 20_000_000;
const MAX_VALUES = 200;
const MAX_MEMBERS = 2_000;
/** How many members of lists within lists are looked at in one address book. */
const MAX_NESTED = 500_000;

/** The cards of vCard text, 3.0 or 4.0. What cannot be read becomes a problem and hides nothing else. */
export async function parseCards(
  text: string,
): Promise<{ readonly cards: readonly Card[]; readonly problems: readonly string[] }> {
  if (text.length > MAX_BYTES) return { cards: [], problems: ["the address book is larger than 20 MB"] };
  const { components, problems } = await parseComponents(text, "vcard", "VCARD");
  const cards: Card[] = [];
  for (const component of components) {
    const card = readCard(component);
    if (card) cards.push(card);
    else problems.push("a card has neither a name nor an address");
  }
  if (components.length === 0 && problems.length === 0) problems.push("there is no card in it");
  return { cards, problems };
}

function readCard(card: Component): Card | undefined {
  const emails = sortPreferred(findProperties(card, "email")).map((email) => email.replace(/^mailto:/i, ""));
  const phones = sortPreferred(findProperties(card, "tel")).map((phone) => phone.replace(/^tel:/i, ""));
  const organization = readParts(findProperty(card, "org"))[0];
  const name = readName(card) ?? organization ?? emails[0];
  if (name === undefined) return undefined;
  // Many programs write no UID; people may share an address, and others a name.
  const uid = findText(card, "uid") ?? [...new Set([name, emails[0] ?? phones[0] ?? name])].join(" ");
  const kind = (findText(card, "kind") ?? findText(card, "x-addressbookserver-kind"))?.toLowerCase();
  const members = ["member", "x-addressbookserver-member"]
    .flatMap((property) => findProperties(card, property))
    .slice(0, MAX_MEMBERS)
    .flatMap((property) => (typeof property[3] === "string" ? [property[3].trim()] : []));
  const isAddress = (member: string) => /^mailto:/i.test(member);
  const isList = kind === "group";
  const addresses = members.filter(isAddress).map((member) => member.slice("mailto:".length).toLowerCase());
  return {
    ...{ id: uid, uid, name, emails, phones, organization },
    title: findText(card, "title"),
    notes: findText(card, "note"),
    members: isList ? addresses : undefined,
    memberRefs: isList ? members.filter((member) => !isAddress(member)) : [],
  };
}

function readName(card: Component): string | undefined {
  const full = findText(card, "fn");
  if (full !== undefined) return cleanLine(full);
  const [family, given, more, prefix] = readParts(findProperty(card, "n"));
  const name = [prefix, given, more, family].filter(Boolean).join(" ");
  return name === "" ? undefined : cleanLine(name);
}

/** The parts of a structured value; an empty list if there is none. */
function readParts(property: Property | undefined): string[] {
  const value = property?.[3];
  const parts = Array.isArray(value) ? value.flat() : [value];
  const texts = parts.filter((part) => typeof part === "string");
  return texts.some((text) => text !== "") ? texts : [];
}

function sortPreferred(properties: readonly Property[]): string[] {
  const rank = (property: Property): number => {
    const types = [property[1].type ?? []].flat().map((type) => type.toLowerCase());
    return types.includes("pref") ? 0 : Number(findParameter(property, "pref") ?? 101);
  };
  const values = [...properties]
    .slice(0, MAX_VALUES)
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((property) => (typeof property[3] === "string" ? [cleanLine(property[3])] : []));
  return [...new Set(values.filter((value) => value !== ""))];
}

/**
 * Lists whose members are named by UID, with the first address of each, and of a list among them with its members;
 * members that are not there are left out.
 */
export function resolveMembers(cards: readonly Card[]): Card[] {
  const bare = (uid: string) => uid.replace(/^urn:uuid:/i, "").toLowerCase();
  const byUid = new Map(cards.map((card) => [bare(card.uid), card]));
  let nested = 0;
  return cards.map((card) => {
    if (card.memberRefs.length === 0) return card;
    const addresses = new Set<string>();
    // Each list is gone through once, whatever lists hold each other.
    const lists = new Set([card]);
    for (const list of lists) {
      if (list !== card) nested += list.memberRefs.length + 1;
      if (nested > MAX_NESTED) break;
      for (const address of list.members ?? []) addresses.add(address);
      for (const ref of list.memberRefs) {
        const member = byUid.get(bare(ref));
        const address = member?.emails[0]?.toLowerCase();
        if (member?.members) lists.add(member);
        else if (address !== undefined) addresses.add(address);
      }
    }
    return { ...card, members: [...addresses].slice(0, MAX_MEMBERS) };
  });
}
