import { expect, test } from "vitest";
import { KnownAddresses, readShown } from "./known-addresses.ts";

test("what a person typed is known, with or without a scheme and without the sentence's punctuation", () => {
  const known = new KnownAddresses();
  known.addTyped("Read https://a.example/x?y=1, (see b.example/docs) and [c.example].");
  for (const address of [
    "https://a.example/x?y=1",
    "https://b.example/docs",
    "http://b.example/docs",
    "https://c.example",
  ])
    expect([address, known.has(address)]).toEqual([address, true]);
  for (const address of ["https://a.example/", "https://a.example/x?y=12", "https://b.example/docs/more"])
    expect([address, known.has(address)]).toEqual([address, false]);
});

test("one address in several spellings is one address", () => {
  const known = new KnownAddresses();
  known.add(["HTTPS://A.Example:443/x#part"], false);
  expect(known.has("https://a.example/x")).toBe(true);
});

test("a request that a model put together carries what it knows, until somebody outside names the same", () => {
  const known = new KnownAddresses();
  known.add(["https://a.example/?q=secret"], true);
  expect(known.carries("https://a.example/?q=secret")).toBe(true);
  known.add(["https://a.example/?q=secret"], false);
  expect(known.carries("https://a.example/?q=secret")).toBe(false);
  known.add(["https://a.example/?q=secret"], true);
  expect(known.carries("https://a.example/?q=secret")).toBe(false);
  expect(known.carries("https://unknown.example/")).toBe(false);
});

test("hosts of the user's own network may answer with what a run wrote there", () => {
  const known = new KnownAddresses(["Wiki.Local"]);
  known.add(["http://wiki.local/page"], false);
  expect([known.carries("http://wiki.local/page"), known.carries("https://a.example/")]).toEqual([
    true,
    false,
  ]);
});

test("an answer shows its addresses; one to a request that carries something leads only to those who were told", () => {
  const texts = ["See https://a.example/1 and (https://b.example/2).", "https://a.example/1"];
  expect(readShown(texts, [])).toEqual(["https://a.example/1", "https://b.example/2"]);
  expect(readShown(texts, ["https://a.example/?q=secret"])).toEqual(["https://a.example/1"]);
  expect(readShown(texts, ["a search for secret"])).toEqual([]);
});
