import { expect, test } from "vitest";
import { openEmbedded } from "./embedded-store.ts";
import { importCards } from "./import-files.ts";
import { createReport } from "./import-source.ts";

const { signal } = new AbortController();

async function openStore(text: string) {
  const store = openEmbedded({ file: ":memory:", now: () => 0, zone: "UTC" });
  const report = createReport();
  const read = (cards: string) => importCards({ database: store.database(), file: "x.vcf", report }, cards);
  await read(text);
  return { ...store, report, read };
}

const DANA = `BEGIN:VCARD\nVERSION:4.0\nUID:dana\nFN:Dana Ortiz\nORG:Acme Corp\nTITLE:CTO\nEMAIL;PREF=2:d@home.example\nEMAIL;PREF=1:dana.ortiz@acme.example\nTEL:+1 555\nX-SECRET:kept\nEND:VCARD\n`;
const JOSE = `BEGIN:VCARD\nVERSION:3.0\nN:Núñez;José;;;\nFN:José Núñez\nORG:Acme Corp\nEMAIL;TYPE=INTERNET:jose@acme.example\nEND:VCARD\n`;
const LIST = `BEGIN:VCARD\nVERSION:4.0\nUID:list\nKIND:group\nFN:team\nMEMBER:urn:uuid:dana\nMEMBER:mailto:x@y.example\nEND:VCARD\n`;

test("contacts are found by every field, without accents and case", async () => {
  const { contacts, report } = await openStore(DANA + JOSE + LIST);
  expect(report).toMatchObject({ counts: { contacts: 3 }, problems: [] });
  const names = async (query: object) =>
    (await contacts.search({ limit: 10, ...query }, signal)).contacts.map(({ name }) => name);
  expect(await names({ organization: "acme" })).toEqual(["Dana Ortiz", "José Núñez"]);
  expect(await names({ name: "jose nunez" })).toEqual(["José Núñez"]);
  expect(await names({ email: "d@home.example" })).toEqual(["Dana Ortiz"]);
  expect(await names({ text: "CTO" })).toEqual(["Dana Ortiz"]);
  expect((await contacts.search({ limit: 1 }, signal)).total).toBe(3);
  expect(await contacts.organizations(signal)).toEqual([{ name: "Acme Corp", contacts: 2 }]);
});

test("a contact has its preferred address first, and a list the addresses of its members", async () => {
  const { contacts } = await openStore(LIST + DANA);
  const dana = await contacts.get("dana", signal);
  expect(dana).toEqual({
    id: "dana",
    name: "Dana Ortiz",
    emails: ["dana.ortiz@acme.example", "d@home.example"],
    phones: ["+1 555"],
    organization: "Acme Corp",
    title: "CTO",
  });
  expect((await contacts.get("list", signal)).members?.toSorted()).toEqual([
    "dana.ortiz@acme.example",
    "x@y.example",
  ]);
  await expect(contacts.get("nobody", signal)).rejects.toMatchObject({ type: "params" });
});

test("a newer card takes the place of an older one of its UID", async () => {
  const { contacts, report, read } = await openStore(DANA);
  await read(DANA);
  expect(report).toMatchObject({ counts: { contacts: 1 }, skipped: 1 });
  await read(DANA.replace("CTO", "CEO"));
  expect((await contacts.search({ limit: 5 }, signal)).contacts).toMatchObject([{ title: "CEO" }]);
});

test("a bad card hides no other", async () => {
  const { contacts, report } = await openStore(
    `BEGIN:VCARD\nVERSION:4.0\n;;;\nEND:VCARD\n${DANA}BEGIN:VCARD\nFN`,
  );
  expect((await contacts.search({ limit: 5 }, signal)).total).toBe(1);
  expect(report.problems.length).toBeGreaterThan(0);
});

test("people without a UID who share an address, or a name, are all kept", async () => {
  const card = (name: string, email: string) =>
    `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nEMAIL:${email}\nEND:VCARD\n`;
  const office = card("Ann", "office@x.example") + card("Bob", "office@x.example");
  const { contacts, report, read } = await openStore(office + card("Bob", "bob@x.example"));
  expect((await contacts.search({ limit: 9 }, signal)).contacts.map(({ name }) => name)).toEqual([
    "Ann",
    "Bob",
    "Bob",
  ]);
  await read(office);
  expect(report.counts.contacts).toBe(3);
});

test("a list within a list is all of its members, even if they hold each other", async () => {
  const outer = `BEGIN:VCARD\nVERSION:4.0\nUID:all\nKIND:group\nFN:all\nMEMBER:urn:uuid:list\nMEMBER:mailto:z@y.example\nEND:VCARD\n`;
  const inner = LIST.replace("MEMBER:", "MEMBER:urn:uuid:all\nMEMBER:");
  const { contacts } = await openStore(outer + inner + DANA);
  for (const id of ["all", "list"])
    expect((await contacts.get(id, signal)).members?.toSorted()).toEqual([
      "dana.ortiz@acme.example",
      "x@y.example",
      "z@y.example",
    ]);
});
