import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findAddressFault, parseAddress, showAddress, warnOfLookAlike } from "./mail-address.ts";
import { dropRepeated, isInternal } from "./recipients.ts";

describe("an address", () => {
  test.each([
    ["dana@acme.example", "dana@acme.example"],
    ["  Dana@ACME.Example ", "Dana@acme.example"],
    ["Dana Ortiz <dana@acme.example>", "dana@acme.example"],
    ['"Ortiz, Dana" <dana@acme.example>', "dana@acme.example"],
    ["<dana@acme.example>", "dana@acme.example"],
    ["dana+list@acme.example.", "dana+list@acme.example"],
    ["dana@bücher.example", "dana@xn--bcher-kva.example"],
    ["dana@ａｃｍｅ.example", "dana@acme.example"],
    ["dana@аcme.com", "dana@xn--cme-5cd.com"],
    ["me@localhost", "me@localhost"],
  ])("%s is judged and sent as %s", (written, canonical) => {
    expect(parseAddress(written)).toBe(canonical);
  });

  test.each([
    ["several in one", "a@acme.example, b@evil.example"],
    ["several with a semicolon", "a@acme.example;b@evil.example"],
    ["several behind a name", "a@acme.example <b@evil.example>"],
    ["a display name that is another address", '"x@acme.com" <y@evil.example>'],
    ["a display name with a wide at sign", "x＠acme.com <y@evil.example>"],
    ["a list before a named one", "Dana, Sam <y@evil.example>"],
    ["two in angle brackets", "<a@acme.example><b@evil.example>"],
    ["a group", "team: a@acme.example;"],
    ["a new header", "a@acme.example\r\nBcc: b@evil.example"],
    ["a bare line feed", "a@acme.example\nb"],
    ["a null byte", "a@acme.example\0.evil.example"],
    ["a zero-width space", "a@acme\u200b.example"],
    ["a text that runs backwards", "a\u202e@acme.example"],
    ["a tag character", "a@acme.example\u{e0041}"],
    ["a look-alike before the @", "аlex@retinue.example"],
    ["a quoted local part", '"a b"@acme.example'],
    ["a route with %", "a%evil.example@acme.example"],
    ["a route with !", "evil!a@acme.example"],
    ["two at signs", "a@evil.example@acme.example"],
    ["a comment", "a@acme.example(evil)"],
    ["a number for a server", "a@[127.0.0.1]"],
    ["a bare number for a server", "a@127.0.0.1"],
    ["a port", "a@acme.example:25"],
    ["an encoded domain", "a@acme%2eexample"],
    ["no ending", "a@acme"],
    ["no domain", "a@"],
    ["no name", "@acme.example"],
    ["empty labels", "a@acme..example"],
    ["two dots before the @", "a..b@acme.example"],
    ["a name that is too long", `${"a".repeat(65)}@acme.example`],
    ["a domain that is too long", `a@${"abcdefghi.".repeat(26)}example`],
  ])("with %s is refused", (_name, written) => {
    expect(findAddressFault(written)).not.toBeNull();
    expect(() => parseAddress(written)).toThrow(/is not an address to write to/);
  });

  test("that is accepted is plain ASCII, holds one @, and means itself", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.emailAddress(), hostile), (written) => {
        if (findAddressFault(written) !== null) return;
        const address = parseAddress(written);
        expect(address).toMatch(/^[!-~]+$/);
        expect(address.split("@")).toHaveLength(2);
        expect(address).not.toMatch(/[\s,;<>"()[\]\\:%!]/);
        expect(parseAddress(address)).toBe(address);
      }),
    );
  });
});

const hostile = fc
  .array(
    fc.constantFrom("a", "acme.com", "@", "<", ">", ",", '"', " ", "\r\n", "х", "Bcc: ", ".", "\u200b"),
    {
      maxLength: 9,
    },
  )
  .map((parts) => parts.join(""));

test("a name that could be taken for an address or a list is quoted", () => {
  expect(showAddress({ name: "Ortiz, Dana", address: "d@acme.example" })).toBe(
    '"Ortiz, Dana" <d@acme.example>',
  );
  expect(showAddress({ name: "ceo@acme.com", address: "y@evil.example" })).toBe(
    '"ceo@acme.com" <y@evil.example>',
  );
  expect(showAddress({ name: 'a" <x@y>', address: "y@evil.example" })).toBe('"a <x@y>" <y@evil.example>');
});

describe("a look-alike domain", () => {
  const known = ["acme.com", "retinue.example", "microsoft.com"];
  test.each([
    ["xn--cme-5cd.com", "looks like acme.com"],
    ["acrne.com", "looks like acme.com"],
    ["acme.co", "looks like acme.com"],
    ["rnicrosoft.com", "looks like microsoft.com"],
    ["micr0soft.com", "looks like microsoft.com"],
    ["retinue.example.evil.com", "looks like retinue.example"],
    ["retinue-example.evil.com", "looks like retinue.example"],
    ["xn--bcher-kva.example", "written bücher.example"],
  ])("%s is flagged: %s", (domain, warning) => {
    expect(warnOfLookAlike(domain, known)).toContain(warning);
  });

  test.each(["acme.com", "client.org", "sub.acme.com", "github.com"])("%s is none", (domain) => {
    expect(warnOfLookAlike(domain, known)).toBeNull();
  });
});

describe("inside", () => {
  const household = { self: "alex@retinue.example", internalDomains: ["sister.example"] };
  test.each([
    ["priya@retinue.example", true],
    ["priya@sister.example", true],
    ["priya@evil.retinue.example", false],
    ["priya@retinue.example.evil.com", false],
    ["dana@acme.example", false],
  ])("%s: %s", (address, inside) => {
    expect(isInternal(address, household)).toBe(inside);
  });

  test("sharing a public mail service does not make people colleagues", () => {
    const own = { self: "alex@gmail.com", internalDomains: [] };
    expect(isInternal("somebody@gmail.com", own)).toBe(false);
    expect(isInternal("Alex@gmail.com", own)).toBe(true);
  });
});

test("a public domain is never inside, even if it was named, and case does not matter", () => {
  const own = { self: "Alex@Retinue.Example", internalDomains: ["gmail.com"] };
  expect(isInternal("somebody@gmail.com", own)).toBe(false);
  expect(isInternal("priya@RETINUE.example", own)).toBe(true);
});

test("each address is listed once, even among thousands", () => {
  const many = Array.from({ length: 30_000 }, (_, at) => ({ address: `a${at % 20_000}@x.example` }));
  expect(dropRepeated([...many, { address: "A1@X.example" }], [{ address: "a0@x.EXAMPLE" }])).toHaveLength(
    19_999,
  );
});
