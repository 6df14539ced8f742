import { expect, test } from "vitest";
import { decodings, plainForm } from "./undo-encoding.ts";

const VALUE = "my secret value 42";
const decoded = (text: string) => decodings(text, true).join("\n");

test.each([
  ["base64 within other letters", `xx${Buffer.from(VALUE).toString("base64")}`],
  ["hex", Buffer.from(VALUE).toString("hex")],
  ["percent codes", encodeURIComponent(VALUE)],
  ["percent codes of percent codes", encodeURIComponent(encodeURIComponent(VALUE))],
  ["a form", "v=my+secret+value+42"],
  ["HTML", [...VALUE].map((letter) => `&#${letter.charCodeAt(0)};`).join("")],
  ["character codes", [...VALUE].map((letter) => letter.charCodeAt(0)).join(", ")],
  ["rotated letters", "zl frperg inyhr 42"],
  ["reversed letters", [...VALUE].reverse().join("")],
])("what is written as %s is read", (_, text) => {
  expect(decoded(text)).toContain(VALUE);
});

test("codes of characters that there are not are left out", () => {
  expect(() => decodings(`${VALUE}&#x110000;&#9999999;`, true)).not.toThrow();
});

test("letters of other shapes stand for plain ones, and what nobody sees for nothing", () => {
  expect(plainForm("ｓｅｃｒｅｔ 𝐬𝐞𝐜𝐫𝐞𝐭 sécrèt se\u200bcret")).toBe("secret secret secret secret");
});

test("a long text is not turned round and about again and again", () => {
  const long = "word ".repeat(4_000);
  expect(decodings(long, false)).toEqual([]);
  expect(decodings(long, true).length).toBeGreaterThan(0);
});
