import { expect, test } from "vitest";
import { marker, secretForms } from "./secret-forms.ts";

test("a value is looked for as it is, in JSON, hex, URLs and forms, in either case of their codes", () => {
  const value = 'p@ss "wörd" 12';
  const forms = secretForms(`  ${value}\n`, []);
  const encoded = encodeURIComponent(value);
  expect(forms).toEqual(
    expect.arrayContaining([
      value,
      'p@ss \\"wörd\\" 12',
      Buffer.from(value).toString("hex"),
      Buffer.from(value).toString("hex").toUpperCase(),
      encoded,
      encoded.replaceAll(/%../g, (code) => code.toLowerCase()),
      encoded.replaceAll("%20", "+"),
    ]),
  );
});

test("values of fewer than eight characters are not looked for, those of eight are", () => {
  expect([secretForms("1234567", []), secretForms(" 1234567 ", []), secretForms("abcd1234", [])[0]]).toEqual([
    ...[[], [], "abcd1234"],
  ]);
});

test("no form overlaps a marker, so that redacting twice is redacting once", () => {
  const markers = [marker("secret")];
  for (const secret of ["[redacted:secret]", "a[redacted:b]", "redacted:s"])
    for (const form of secretForms(secret, markers)) expect(markers[0]).not.toContain(form);
  expect(secretForms("ret]12345678", markers)[0]).toBe("12345678");
});
