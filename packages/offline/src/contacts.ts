import { type CallData, readField, readTexts, tellList } from "./call-data.ts";
import { toData } from "./conversation.ts";
import {
  answerWith,
  type DomainRules,
  doubt,
  lookUp,
  type Reading,
  type SentenceForm,
} from "./read-request.ts";
import type { Gaps } from "./when.ts";

const FIELD =
  "(?<field>contact (?:info|information|details)|details|e-?mail(?: address(?:es)?)?|(?:phone |mobile )?numbers?|phone)";
const GET = "(?:find|get|show|look up|give|list)(?: me)?(?: all)?(?: the)?";
const PEOPLE = "(?:people|everyone|everybody|contacts|anyone|staff|employees)";
const AT = "(?:at|from|who works? (?:at|for)|whose organi[sz]ation is)";
const ORGANIZATIONS = "(?:organi[sz]ations|companies)";

const search = (begins: string): SentenceForm => ({ begins, read: readContactSearch });
const listOrganizations = (begins: string) => answerWith(begins, "contacts_list_organizations", () => ({}));
const validate = (begins: string) =>
  answerWith(begins, "contacts_validate_email", ({ address }) => ({ email: address }));

/** What the contacts can be asked for. */
export const contacts: DomainRules = {
  example: "Find contact info for people at Acme Corp",
  sentences: [
    {
      begins:
        "(?:add|create|save|delete|remove|update|change|export|import)(?: .+)? (?:contacts?|contact list|address book)",
      read: () =>
        doubt("a tool that changes contacts", "Contacts can be searched here, not changed or exported."),
    },
    search(`${GET} ${FIELD} (?:of|for) (?:the )?${PEOPLE} ${AT} {org}`),
    search(`${GET} ${FIELD} (?:of|for|on) {person}`),
    search(`${GET} {person}['’]s ${FIELD}`),
    search(`${GET} ${PEOPLE} ${AT} {org}`),
    search(`${GET} {org}['’]s? ${PEOPLE}`),
    search(`what(?:['’]s| is) (?:the )?${FIELD} (?:of|for) {person}`),
    search(`what(?:['’]s| is) {person}['’]s ${FIELD}`),
    search("who works (?:at|for) {org}"),
    search("who do (?:we|i) know at {org}"),
    search("search (?:my |the )?contacts for {topic}"),
    search("(?:look up|find) (?:{address}|{person}) in my contacts"),
    listOrganizations(
      `(?:list|show)(?: me)?(?: all)?(?: the)? ${ORGANIZATIONS}(?: in my contacts| i have contacts (?:in|at))?`,
    ),
    listOrganizations(
      `which ${ORGANIZATIONS} (?:are in my (?:contacts|address book)|do i have contacts (?:in|at))`,
    ),
    validate("(?:validate|verify)(?: the)?(?: e-?mail)?(?: address)? {address}"),
    validate("is {address} a (?:valid|real) (?:e-?mail )?address"),
    answerWith(`(?:get|show|open)(?: me)? (?:the )?contact {id}`, "contacts_get_by_id", ({ id }) => ({
      contact_id: id,
    })),
  ],
  tellings: [
    ["contacts_validate_email", describeValidity],
    [
      "contacts_list_organizations",
      (data) =>
        tellList(
          data,
          { list: "organizations", noun: "organization" },
          (one) => `${readField(one, "name")} (${readField(one, "contacts")})`,
        ),
    ],
    ["contacts_get_by_id", describeWholeContact],
    ["contacts_search", (data) => tellList(data, { list: "contacts", noun: "contact" }, describeContact)],
  ],
};

function readContactSearch({ org, person, address, topic, field = "" }: Gaps): Reading {
  const who = org
    ? { organization: org }
    : address
      ? { email: address }
      : person
        ? { name: person }
        : { query: topic };
  const fields = /phone|number/i.test(field)
    ? ["name", "phone"]
    : /mail|address/i.test(field)
      ? ["name", "email"]
      : ["name", "email", "phone"];
  return lookUp("contacts_search", { ...who, fields });
}

function describeWholeContact(data: CallData): string {
  const contact = toData(data.contact);
  return `${describeContact({ ...contact, email: readTexts(contact, "emails")[0], phone: readTexts(contact, "phones")[0] })}.`;
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
