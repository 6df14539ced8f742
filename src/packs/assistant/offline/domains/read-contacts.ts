import { doubt, type Reading } from "../assessment.ts";
import { CONTACTS_PATTERNS } from "../intent-patterns.ts";
import { addressesIn } from "../slots/people.ts";
import { QUOTE, type Request } from "../slots/request.ts";

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
export function readContacts(request: Request): Reading {
  const { head } = request;
  const found = CONTACTS_PATTERNS.find(({ pattern }) => pattern.test(head));
  if (!found)
    return doubt("a request for contacts", "No rule of the contacts agent knows this form of request.");
  const plan = (params: Record<string, unknown>, assumptions: readonly string[] = []): Reading => ({
    tools: found.tools,
    risk: found.riskLevel,
    params,
    assumptions,
  });
  const [address] = addressesIn(head);
  if (found.intent === "change")
    return doubt("a tool that changes contacts", "Contacts can be searched here, not changed or exported.");
  if (found.intent === "validate")
    return address ? plan({ email: address }) : doubt("address", "The request does not say which address.");
  if (found.intent === "organizations") return plan({});
  if (found.intent === "get") {
    const id = ID.exec(head)?.[1];
    return id ? plan({ contact_id: id }) : doubt("contact id", "No contact is named.");
  }
  const slots = address ? { email: address } : slotsIn(request);
  if (!slots) return doubt("name or organization", "The request does not say whom to look for.");
  return plan({ ...slots, fields: fieldsIn(head) });
}

function slotsIn(request: Request): Record<string, string> | undefined {
  const { head, restore } = request;
  const organization = first(ORGANIZATION, head);
  if (organization) return { organization: restore(organization) };
  const explicit = /^(?:search|look through|go through)\b/i.test(head) ? WORDS.exec(head)?.[1] : undefined;
  if (explicit) return { query: restore(explicit) };
  const name = first(NAME, head);
  if (name) return { name: restore(name) };
  const words = WORDS.exec(head)?.[1];
  return words && !/^(?:them|it|him|her|the |my |a |someone|everyone|people|contacts?)/i.test(words)
    ? { query: restore(words) }
    : undefined;
}

function first(patterns: readonly RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found) return found.replace(/['’]s$/, "").replace(/[.\s]+$/, "");
  }
  return undefined;
}

function fieldsIn(head: string): string[] {
  if (/\b(?:phone|number|mobile|cell|call)\b/i.test(head) && !/\be-?mail\b/i.test(head))
    return ["name", "phone"];
  if (/\be-?mail\b|\baddress\b/i.test(head) && !/\bphone\b/i.test(head)) return ["name", "email"];
  return ALL_FIELDS;
}
