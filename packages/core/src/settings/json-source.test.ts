import fc from "fast-check";
import { expect, test } from "vitest";
import { isRecord } from "../schema/json-object.ts";
import { EditFault, editJson, locateJson } from "./json-source.ts";

test("one value changes and nothing else does", () => {
  const text = '{\n    "model" :  "a",   \n    "limits": { "turns": 1, "depth": 2 },\n\t"maxDepth": 3\n}\n';
  expect(editJson(text, ["limits", "turns"], 9)).toBe(text.replace('"turns": 1', '"turns": 9'));
  expect(editJson(text, ["model"], "b")).toBe(text.replace('"a"', '"b"'));
});

test("a new key stands after the last one, indented like the others", () => {
  expect(editJson('{\n    "a": 1\n}\n', ["b"], { c: [1] })).toBe(
    '{\n    "a": 1,\n    "b": {\n        "c": [\n            1\n        ]\n    }\n}\n',
  );
  expect(editJson('{ "a": 1 }', ["b"], 2)).toBe('{ "a": 1, "b": 2 }');
  expect(editJson("{}\n", ["a", "b"], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n');
  expect(editJson('{\r\n\t"a": 1\r\n}', ["b"], 2)).toBe('{\r\n\t"a": 1,\r\n\t"b": 2\r\n}');
});

test("a key is removed with its comma", () => {
  expect(editJson('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', ["b"], undefined)).toBe(
    '{\n  "a": 1,\n  "c": 3\n}',
  );
  expect(editJson('{\n  "a": 1,\n  "b": 2\n}', ["b"], undefined)).toBe('{\n  "a": 1\n}');
  expect(editJson('{ "a": 1 }', ["a"], undefined)).toBe("{}");
  expect(editJson('{ "a": 1 }', ["x", "y"], undefined)).toBe('{ "a": 1 }');
});

test("of a key that is there twice the one that counts is changed", () => {
  expect(JSON.parse(editJson('{"a": 1, "a": 2}', ["a"], 3))).toEqual({ a: 3 });
});

test("a way through something that is no object is refused", () => {
  expect(() => editJson('{"a": [1]}', ["a", "b"], 1)).toThrow(EditFault);
  expect(() => editJson("[1]", ["a"], 1)).toThrow("the file is not an object");
});

const key = fc.constantFrom("a", "b", "", 'q"uo\\te', "ü\n", "toString", "{,}");
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue({ maxDepth: 1 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test("whatever the text, what is read back is the old value with the one change", () => {
  const files = fc.dictionary(key, tree, { maxKeys: 4, noNullPrototype: true });
  const ways = fc.array(key, { minLength: 1, maxLength: 3 });
  const spaces = fc.constantFrom(0, 1, 2, "\t");
  fc.assert(
    fc.property(files, ways, fc.jsonValue(), spaces, (file, keys, value, space) => {
      const text = JSON.stringify(file, null, space);
      let edited: string;
      try {
        edited = editJson(text, keys, value);
      } catch (thrown) {
        if (thrown instanceof EditFault) return;
        throw thrown;
      }
      expect(JSON.parse(edited)).toEqual(JSON.parse(JSON.stringify(withValue(file, keys, value))));
      if (hasWay(file, keys)) return;
      expect(JSON.parse(editJson(edited, keys, undefined))).toEqual(
        JSON.parse(JSON.stringify(withValue(JSON.parse(edited), keys, undefined))),
      );
    }),
  );
});

function hasWay(value: unknown, [first = "", ...rest]: readonly string[]): boolean {
  if (!isRecord(value) || !Object.hasOwn(value, first)) return false;
  return rest.length === 0 || hasWay(value[first], rest);
}

function withValue(file: unknown, [first = "", ...rest]: readonly string[], value: unknown): unknown {
  const object = isRecord(file) ? file : {};
  const own = Object.hasOwn(object, first) ? object[first] : undefined;
  return { ...object, [first]: rest.length === 0 ? value : withValue(own, rest, value) };
}

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

test("every key and item has the line it is on", () => {
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
