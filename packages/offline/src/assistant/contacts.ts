import type { PastCall } from "../procedure.ts";
import {
  type CallData,
  countNoun,
  findData,
  MOST_SHOWN,
  markMore,
  readField,
  readList,
  readTexts,
  toData,
} from "./call-data.ts";
import type { NamedPattern } from "./domains.ts";
import { type DomainReading, doubt } from "./domains.ts";
import { findAddresses } from "./people.ts";
import { QUOTE, type Wording } from "./wording.ts";

type ContactsIntent = "validate" | "organizations" | "get" | "search" | "change";

export const CONTACTS_PATTERNS: readonly NamedPattern<ContactsIntent>[] = [
  {
    intent: "change",
    pattern: /^(?:add|create|save|delete|remove|update|change|edit|merge|export|import|dump)\b/i,
    tools: [],
    riskLevel: "high",
  },
  {
    intent: "validate",
    pattern:
      /^(?:validate|verify)\b|\b(?:valid|real|correct|working) (?:e-?mail )?address\b|\bis \S+@\S+ (?:valid|real|correct)\b|^check (?:if |whether )?(?:the (?:e-?mail )?address )?\S+@\S+/i,
    tools: ["contacts_validate_email"],
    riskLevel: "low",
  },
  {
    intent: "organizations",
    pattern: /\b(?:list|show|which|what|all)\b.*\b(?:organi[sz]ations|companies|firms)\b/i,
    tools: ["contacts_list_organizations"],
    riskLevel: "low",
  },
  {
    intent: "get",
    pattern: /\bcontact (?:with )?(?:the )?(?:id )?[\w-]*\d[\w-]*$/i,
    tools: ["contacts_get_by_id"],
    riskLevel: "low",
  },
  {
    intent: "search",
    pattern:
      /\b(?:contacts?|people|everyone|anyone|who|whom|phone|number|e-?mail|address|reach|details|look up|works?|employees)\b/i,
    tools: ["contacts_search"],
    riskLevel: "low",
  },
];

const PROPER = `(?:\\p{Lu}|\\p{N})[\\p{L}\\p{N}&.'’-]*(?: (?:(?:\\p{Lu}|\\p{N})[\\p{L}\\p{N}&.-]*|&|of|and(?= \\p{Lu})))*|${QUOTE}`;
const ORGANIZATION = [
  new RegExp(
    `\\b(?:people|contacts?|everyone|everybody|anyone|someone|staff|employees|works?|working|know|those|folks|info|team|employed)\\b[^?]*?\\b(?:at|from|in|with|(?<=(?:people|staff|employees|folks|team) )of|(?<=work\\w* )for) (${PROPER})`,
    "u",
  ),
  new RegExp(`\\b(?:organi[sz]ation|company|firm|employer)(?: is| name is|:|=)? (${PROPER})`, "u"),
  /(?:^|\s)(\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)['’]s? (?:people|staff|contacts|employees|team|folks)\b/u,
];
const NAME = [
  new RegExp(`\\b(?:of|for|about|on|reach|contact|call|find|up|is|get|details) (${PROPER})`, "u"),
  /(?:^|\s)(\p{Lu}[\p{L}-]*(?: \p{Lu}[\p{L}-]*)*)['’]s? (?:phone|number|mobile|cell|e-?mail|address|contact|details|info|title)/u,
];
const WORDS = new RegExp(
  `\\b(?:for|named|called|matching|like|up) (?:the name )?(${QUOTE}|[\\p{L}\\p{N}][^,?]*?)(?: in (?:my|the|our) (?:contacts|address book))?$`,
  "iu",
);
const ID = /\bcontact (?:with )?(?:the )?(?:id )?([\w-]*\d[\w-]*)$/i;
const ALL_FIELDS = ["name", "email", "phone"];

/** What a request for contacts wants found. */
export function readContacts(request: Wording): DomainReading {
  const { head } = request;
  const found = CONTACTS_PATTERNS.find(({ pattern }) => pattern.test(head));
  if (!found)
    return doubt("a request for contacts", "No rule of the contacts agent knows this form of request.");
  const plan = (params: Record<string, unknown>, assumptions: readonly string[] = []): DomainReading => ({
    tools: found.tools,
    risk: found.riskLevel,
    params,
    assumptions,
  });
  const [address] = findAddresses(head);
  if (found.intent === "change")
    return doubt("a tool that changes contacts", "Contacts can be searched here, not changed or exported.");
  if (found.intent === "validate")
    return address ? plan({ email: address }) : doubt("address", "The request does not say which address.");
  if (found.intent === "organizations") return plan({});
  if (found.intent === "get") {
    const id = ID.exec(head)?.[1];
    return id ? plan({ contact_id: id }) : doubt("contact id", "No contact is named.");
  }
  const slots = address ? { email: address } : findContactSlots(request);
  if (!slots) return doubt("name or organization", "The request does not say whom to look for.");
  return plan({ ...slots, fields: chooseFields(head) });
}

function findContactSlots(request: Wording): Record<string, string> | undefined {
  const { head, restore } = request;
  const organization = findFirst(ORGANIZATION, head);
  if (organization) return { organization: restore(organization) };
  const explicit = /^(?:search|look through|go through)\b/i.test(head) ? WORDS.exec(head)?.[1] : undefined;
  if (explicit) return { query: restore(explicit) };
  const name = findFirst(NAME, head);
  if (name) return { name: restore(name) };
  const words = WORDS.exec(head)?.[1];
  return words && !/^(?:them|it|him|her|the |my |a |someone|everyone|people|contacts?)/i.test(words)
    ? { query: restore(words) }
    : undefined;
}

function findFirst(patterns: readonly RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found) return found.replace(/['’]s$/, "").replace(/[.\s]+$/, "");
  }
  return undefined;
}

function chooseFields(head: string): string[] {
  if (/\b(?:phone|number|mobile|cell|call)\b/i.test(head) && !/\be-?mail\b/i.test(head))
    return ["name", "phone"];
  if (/\be-?mail\b|\baddress\b/i.test(head) && !/\bphone\b/i.test(head)) return ["name", "email"];
  return ALL_FIELDS;
}

/** What the contact tools' calls came to. */
export function summariseContacts(calls: readonly PastCall[]): string {
  const valid = findData(calls, "contacts_validate_email");
  const organizations = findData(calls, "contacts_list_organizations");
  const contact = toData(findData(calls, "contacts_get_by_id")?.contact);
  if (valid) return describeValidity(valid);
  if (organizations) {
    const all = readList(organizations, "organizations");
    return `${countNoun(all.length, "organization")}: ${all.map((one) => `${readField(one, "name")} (${readField(one, "contacts")})`).join(", ")}.`;
  }
  if (readField(contact, "contact_id"))
    return `${describeContact({ ...contact, email: readTexts(contact, "emails")[0], phone: readTexts(contact, "phones")[0] })}.`;
  const found = findData(calls, "contacts_search");
  if (!found) return "";
  const people = readList(found, "contacts");
  if (people.length === 0) return "No contacts were found.";
  return `${countNoun(Number(found.total ?? people.length), "contact")}: ${people.slice(0, MOST_SHOWN).map(describeContact).join("; ")}${markMore(people.length)}.`;
}

function describeContact(contact: CallData): string {
  const role = [readField(contact, "title"), readField(contact, "organization")].filter(Boolean).join(", ");
  const ways = [readField(contact, "email"), readField(contact, "phone")].filter(Boolean).join(", ");
  return `${readField(contact, "name")}${role ? ` (${role})` : ""}${ways ? ` ${ways}` : ""}`;
}

function describeValidity(data: CallData): string {
  const name = readField(toData(data.contact), "name");
  const known = data.known === true ? `, known as ${name || "a contact"}` : ", not among the contacts";
  const reason = readField(data, "reason") ? ` (${readField(data, "reason")})` : "";
  const suggestion = readField(data, "suggestion") ? ` Did you mean ${readField(data, "suggestion")}?` : "";
  return `${readField(data, "email")} is ${data.valid === true ? "a valid address" : "not a valid address"}${known}${reason}.${suggestion}`;
}
