import { expect, test } from "vitest";
import { type Contact, countOrganizations, createAddressBook, matchesContact } from "./contacts-provider.ts";

const { signal } = new AbortController();
const person = (name: string, more: Partial<Contact> = {}): Contact => ({
  id: name.toLowerCase(),
  name,
  emails: [],
  phones: [],
  ...more,
});

test("a contact is found without regard to case and accents, by all words that are given", () => {
  const dana = {
    id: "1",
    name: "Dana Ortíz",
    emails: ["d@acme.example"],
    phones: [],
    organization: "Acme Corp",
  };
  const found = (query: object) => matchesContact(dana, { limit: 1, ...query });
  expect(found({ text: "ORTIZ acme" })).toBe(true);
  expect(found({ name: "ortiz", organization: "acme" })).toBe(true);
  expect(found({ name: "acme" })).toBe(false);
  expect(found({ email: "d@acme.example", name: "sam" })).toBe(false);
  expect(countOrganizations([dana, dana, { ...dana, organization: "Zeta" }])).toEqual([
    { name: "Acme Corp", contacts: 2 },
    { name: "Zeta", contacts: 1 },
  ]);
});

test("an address book is read once for several look-ups, and anew when it is no longer fresh", async () => {
  let now = 0;
  let reads = 0;
  const load = async () => {
    reads++;
    return [person("Dana"), { ...person("Sam"), uid: "x", memberRefs: ["y"] }];
  };
  const book = createAddressBook({ kind: "carddav", freshMs: 1_000, now: () => now, load });
  expect(await book.search({ limit: 1 }, signal)).toEqual({ contacts: [person("Dana")], total: 2 });
  expect(await book.get("sam", signal)).toEqual(person("Sam"));
  expect(reads).toBe(1);
  now = 1_000;
  await expect(book.get("mei", signal)).rejects.toMatchObject({ type: "params" });
  expect(reads).toBe(2);
});

test("a reading that failed is made again at the next call", async () => {
  let fails = true;
  const load = async () => {
    if (fails) throw new Error("no connection");
    return [person("Dana")];
  };
  const book = createAddressBook({ kind: "google", freshMs: 1_000, load });
  await expect(book.organizations(signal)).rejects.toThrow("no connection");
  fails = false;
  expect((await book.search({ limit: 5 }, signal)).total).toBe(1);
});
