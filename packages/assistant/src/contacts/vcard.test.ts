import { expect, test } from "vitest";
import { parseCards, resolveMembers } from "./vcard.ts";

const card = (...lines: string[]) => ["BEGIN:VCARD", "VERSION:4.0", ...lines, "END:VCARD", ""].join("\r\n");

test("a card of either version gives its names, addresses and organisation, the preferred address first", async () => {
  const { cards, problems } = await parseCards(
    card(
      "UID:1",
      "FN:Dana Ortiz",
      "EMAIL:d@a.example",
      "EMAIL;PREF=1:dana@a.example",
      "TEL;VALUE=uri:tel:+49-1",
    ) +
      [
        "BEGIN:VCARD",
        "VERSION:3.0",
        "UID:2",
        "N:Lin;Mei;;Dr.;",
        "ORG:Retinue;Lab",
        "NOTE:a\\nb",
        "END:VCARD",
        "",
      ].join("\n"),
  );
  expect(problems).toEqual([]);
  expect(cards).toEqual([
    {
      id: "1",
      uid: "1",
      name: "Dana Ortiz",
      emails: ["dana@a.example", "d@a.example"],
      phones: ["+49-1"],
      memberRefs: [],
    },
    {
      id: "2",
      uid: "2",
      name: "Dr. Mei Lin",
      emails: [],
      phones: [],
      organization: "Retinue",
      notes: "a\nb",
      memberRefs: [],
    },
  ]);
});

test("a list names its members' addresses, also those of other cards", async () => {
  const { cards } = await parseCards(
    card("UID:urn:uuid:A", "FN:Dana", "EMAIL:Dana@a.example") +
      card(
        "UID:2",
        "KIND:group",
        "FN:team",
        "MEMBER:mailto:Sam@a.example",
        "MEMBER:urn:uuid:a",
        "MEMBER:urn:uuid:gone",
      ),
  );
  expect(resolveMembers(cards)[1]?.members).toEqual(["sam@a.example", "dana@a.example"]);
  expect(cards[0]?.members).toBeUndefined();
});

test("one broken card hides no other", async () => {
  const { cards, problems } = await parseCards(card("FN:Good") + card("garbage") + card("NOTE:nobody"));
  expect(cards.map(({ name }) => name)).toEqual(["Good"]);
  expect(problems).toHaveLength(2);
  for (const text of ["", "x", "BEGIN:VCARD", "\0"]) expect((await parseCards(text)).cards).toEqual([]);
});
