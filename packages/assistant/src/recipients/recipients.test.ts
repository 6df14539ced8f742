import { expect, test } from "vitest";
import { dropRepeated, explainHighRisk, isInternal, refuseBulk } from "./recipients.ts";

const HOUSEHOLD = { self: "alex@retinue.example", internalDomains: ["sister.example"] };
const to = (...addresses: string[]) => addresses.map((address) => ({ address }));

test.each([
  ["the owner's own address", "Alex@Retinue.example", true],
  ["a colleague", "priya@retinue.example", true],
  ["a domain that the owner named", "kim@sister.example", true],
  ["a part of that domain", "kim@mail.sister.example", false],
  ["somebody else", "dana@acme.example", false],
  ["a domain that ends alike", "x@notretinue.example", false],
])("%s is inside: %s", (_title, address, expected) => {
  expect(isInternal(address, HOUSEHOLD)).toBe(expected);
});

test("sharing a public domain says nothing about belonging together", () => {
  const household = { self: "alex@gmail.com", internalDomains: ["gmail.com"] };
  expect(isInternal("alex@gmail.com", household)).toBe(true);
  expect(isInternal("stranger@gmail.com", household)).toBe(false);
});

test("reaching several people, or one outside, is a high risk, and the reason names them", () => {
  expect(explainHighRisk(to("priya@retinue.example"), HOUSEHOLD)).toBeNull();
  expect(explainHighRisk(to("priya@retinue.example", "kim@sister.example"), HOUSEHOLD)).toBe(
    "it reaches 2 people",
  );
  expect(explainHighRisk(to("dana@acme.example"), HOUSEHOLD)).toBe(
    "outside the organisation: dana@acme.example",
  );
  expect(explainHighRisk(to("dana@acme.example", "kim@sister.example"), HOUSEHOLD)).toBe(
    "it reaches 2 people; outside the organisation: dana@acme.example",
  );
  expect(explainHighRisk([], HOUSEHOLD)).toBeNull();
});

test("an address counts once, in its first place", () => {
  const people = to("a@x.example", "A@x.example", "b@x.example");
  expect(dropRepeated(people)).toEqual(to("a@x.example", "b@x.example"));
  expect(dropRepeated(people, to("B@x.example"))).toEqual(to("a@x.example"));
});

test("a call that reaches more than a hundred people is refused", () => {
  const many = Array.from({ length: 101 }, (_, at) => ({ address: `p${at}@x.example` }));
  expect(() => refuseBulk(many.slice(1))).not.toThrow();
  expect(() => refuseBulk(many)).toThrow("it reaches 101 people, more than 100");
});
