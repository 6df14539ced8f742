import fc from "fast-check";
import { expect, test } from "vitest";
import { locateJson } from "./locate-json.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a text is located exactly when it is JSON", () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "\\", "\n", "x", "/*a*/", "01"))
    .map(
      ([text, at, put]) =>
        text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1),
    );
  fc.assert(
    fc.property(
      fc.oneof(fc.json(), broken, fc.string()),
      (text) => "lines" in locateJson(text) === isJson(text),
    ),
  );
});

test("every key and item has the line it stands on", () => {
  const located = locateJson('{\n  "a": {\n    "b/c": [\n      1,\n      2\n    ]\n  },\n  "d": null\n}\n');
  expect("lines" in located && [...located.lines].slice(1)).toEqual([
    ["/a", 2],
    ["/a/b~1c", 3],
    ["/a/b~1c/0", 4],
    ["/a/b~1c/1", 5],
    ["/d", 8],
  ]);
});

test("a fault has line, column and what was expected", () => {
  expect(locateJson('{\n  "a": 1,\n}')).toEqual({
    fault: { line: 3, column: 1, message: `"}" stands where a key in double quotes must be` },
  });
  expect(locateJson('{"a": tru}')).toMatchObject({ fault: { line: 1, column: 7 } });
  expect(locateJson('{"a": "b')).toMatchObject({
    fault: { line: 1, column: 7, message: expect.stringContaining("quote") },
  });
  expect(locateJson("")).toMatchObject({
    fault: { line: 1, column: 1, message: expect.stringContaining("the file ends") },
  });
  expect(locateJson("[".repeat(10_000))).toMatchObject({
    fault: { message: expect.stringContaining("nested deeper") },
  });
});

test("a long text without its closing quote is a fault, found at once", () => {
  const text = `{"a": "${"b".repeat(100_000)}`;
  expect(locateJson(text)).toMatchObject({
    fault: { line: 1, message: expect.stringContaining("closing quote") },
  });
});
