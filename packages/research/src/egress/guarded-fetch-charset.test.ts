import fc from "fast-check";
import { expect, test } from "vitest";
import { decodePage, detectBinaryType } from "./guarded-fetch.ts";

const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding);

test("a byte order mark goes before the header and the page", () => {
  expect(decodePage(bytes("\ufeffgrün", "utf16le"), "text/html; charset=utf-8")).toEqual({
    text: "grün",
    charset: "utf-16le",
  });
  expect(decodePage(bytes("\ufeffgrün"), "text/html; charset=latin1")).toEqual({
    text: "grün",
    charset: "utf-8",
  });
});

test.each([
  "text/html; charset=ISO-8859-1",
  'text/html;charset="latin1"',
  "text/html; x=y; CharSet = windows-1252",
])("the header %j names the encoding", (header) => {
  const page = bytes('<meta charset="utf-8">gr\u00fcn', "latin1");
  expect(decodePage(page, header)).toMatchObject({
    charset: "windows-1252",
    text: expect.stringContaining("grün"),
  });
});

test.each([
  '<meta charset="shift_jis">',
  "<META CHARSET=Shift_JIS>",
  '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">',
  '<?xml version="1.0" encoding="Shift_JIS"?>',
  '<!-- <meta charset="koi8-r"> --><meta charset="shift_jis">',
])("the page says %j", (declared) => {
  const page = Buffer.concat([bytes(declared), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
  expect(decodePage(page)).toMatchObject({ charset: "shift_jis", text: expect.stringMatching(/日本$/) });
});

test("a declaration after the first 1,024 bytes, or of an unknown encoding, does not count", () => {
  expect(decodePage(bytes(`${" ".repeat(1_024)}<meta charset="koi8-r">é`)).charset).toBe("utf-8");
  expect(decodePage(bytes('<meta charset="klingon">é'), "text/html; charset=nonsense").charset).toBe("utf-8");
});

test("a page that can be read as ASCII so far is not UTF-16, whatever it declares", () => {
  expect(decodePage(bytes('<meta charset="utf-16">é'))).toMatchObject({ charset: "utf-8" });
});

test("what is mostly not UTF-8 is windows-1252, even if declared otherwise", () => {
  const page = Buffer.from([0x93, 0x63, 0x61, 0x66, 0xe9, 0x94]);
  expect(decodePage(page, "text/html; charset=utf-8")).toEqual({ text: "“café”", charset: "windows-1252" });
});

test("one torn character does not spoil a page of UTF-8", () => {
  const page = Buffer.concat([bytes("äöü"), Buffer.from([0xc3])]);
  expect(decodePage(page)).toEqual({ text: "äöü\ufffd", charset: "utf-8" });
});

test("all text survives UTF-8, and no bytes make the reading throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      fc.pre(!/charset|encoding|^\ufeff|\ufffd/.test(text));
      expect(decodePage(bytes(text)).text).toBe(text);
    }),
  );
  fc.assert(fc.property(fc.uint8Array(), fc.string(), (raw, header) => void decodePage(raw, header)));
});

test("PDFs and bytes with NUL are no text, UTF-16 is", () => {
  expect(detectBinaryType(bytes("%PDF-1.7"))).toBe("application/pdf");
  expect(detectBinaryType(bytes("a\0b"))).toBe("application/octet-stream");
  expect(detectBinaryType(bytes("\ufeffab", "utf16le"))).toBeUndefined();
  expect(detectBinaryType(bytes("ab", "utf16le"), "text/html; charset=utf-16le")).toBeUndefined();
  expect(detectBinaryType(bytes("text"))).toBeUndefined();
});
