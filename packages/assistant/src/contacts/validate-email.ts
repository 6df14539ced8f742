import { measureDistance, warnOfLookAlike } from "../recipients/look-alike.ts";
import { findAddressFault, isSameAddress, parseAddress, readDomain } from "../recipients/parse-address.ts";
import { listContactDomains, PUBLIC_DOMAINS } from "../recipients/reach.ts";
import type { Services } from "../service-tools/call-service.ts";
import { readTool } from "../service-tools/service-tool.ts";
import { cutText } from "../service-tools/tool-output.ts";
import type { Contact } from "./contacts-provider.ts";

type ValidateInput = { email: string };

/** Letters that a mistyped domain may be off. */
const MOST_TYPOS = 2;

/** The tool `contacts_validate_email`. */
export const validateEmail = readTool<ValidateInput>({
  name: "contacts_validate_email",
  description:
    "Checks one mail address by its form and against the address book; no request goes to its server, so valid does not mean that the mailbox exists. known says whether a contact has it, reason what is wrong or suspicious, suggestion the address that may have been meant.",
  group: "contacts",
  properties: { email: { type: "string", minLength: 1, maxLength: 400 } },
  required: ["email"],
  run: async ({ email }, services) => {
    const wrong = findAddressFault(email);
    const domains = await listContactDomains(services);
    if (wrong !== null) {
      const suggestion = suggest(email.trim(), domains);
      const more = suggestion && findAddressFault(suggestion) === null ? { suggestion } : {};
      return { data: { email, valid: false, known: false, reason: wrong, ...more } };
    }
    const address = parseAddress(email);
    const contact = await findOwner(address, services);
    if (contact) {
      const shown = { contact_id: contact.id, name: cutText(contact.name, 300) };
      return { data: { email: address, valid: true, known: true, contact: shown } };
    }
    const suggestion = suggest(address, domains);
    const reason = warnOfLookAlike(readDomain(address), domains);
    const more = { ...(reason && { reason }), ...(suggestion && { suggestion }) };
    return { data: { email: address, valid: true, known: false, ...more } };
  },
});

async function findOwner(address: string, services: Services): Promise<Contact | undefined> {
  const { contacts } = await services.contacts((book, signal) =>
    book.search({ email: address.toLowerCase(), limit: 25 }, signal),
  );
  return contacts.find(({ emails }) => emails.some((each) => isSameAddress(each, address)));
}

/** The same address at the nearest well-known domain, or one of the address book; undefined if it is at one or near none. */
function suggest(address: string, ofContacts: readonly string[]): string | undefined {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1).toLowerCase();
  const known = [...new Set([...ofContacts, ...PUBLIC_DOMAINS])];
  if (at < 1 || known.includes(domain)) return undefined;
  const near = known
    .map((name) => ({ name, off: measureDistance(domain, name, MOST_TYPOS) }))
    .filter(({ name, off }) => off <= (name.length < 8 ? 1 : MOST_TYPOS))
    .toSorted((a, b) => a.off - b.off)[0];
  return near && `${address.slice(0, at)}@${near.name}`;
}
