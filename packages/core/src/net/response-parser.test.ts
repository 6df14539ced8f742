import fc from "fast-check";
import { expect, test } from "vitest";
import { MalformedResponse, ResponseParser } from "./response-parser.ts";

type Read = { status: number; headers: object; body: string; keepAlive: boolean; hintMs: number | undefined };

/** Reads one response from bytes that come in pieces of these sizes, the last piece having the rest. */
function readPieces(
  text: string,
  sizes: readonly number[],
  { method = "POST", isClosed = false } = {},
): Read | null {
  const read: Read = { status: 0, headers: {}, body: "", keepAlive: false, hintMs: undefined };
  let isOver = false;
  const parser = new ResponseParser({
    onHead(status, headers) {
      Object.assign(read, { status, headers: { ...headers } });
    },
    onBody(bytes) {
      read.body += bytes.toString("latin1");
    },
    onEnd(keepAlive, hintMs) {
      isOver = true;
      Object.assign(read, { keepAlive, hintMs });
    },
  });
  parser.expect(method);
  let bytes = Buffer.from(text, "latin1");
  for (const size of [...sizes, bytes.length]) {
    // Its bytes are only lent to the parser.
    const piece = Buffer.from(bytes.subarray(0, size));
    parser.push(piece);
    piece.fill(0);
    bytes = bytes.subarray(size);
  }
  if (isClosed) parser.close();
  return isOver ? read : null;
}

const head = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;

const chunked = (parts: readonly string[], trailers = "") =>
  `${parts.map((part) => `${part.length.toString(16)};n=v\r\n${part}\r\n`).join("")}0\r\n${trailers}\r\n`;

test("however the bytes are cut, status, headers and body are the same", () => {
  const text = fc.string({ unit: "binary-ascii", maxLength: 40 });
  const framing = fc.oneof(
    text.map((body) => ({ line: `Content-Length: ${body.length}`, sent: body, body, isClosed: false })),
    fc
      .array(
        text.filter((part) => part !== ""),
        { maxLength: 4 },
      )
      .map((parts) => ({
        line: "transfer-encoding: Chunked",
        sent: chunked(parts, "x-sum: 1\r\n"),
        body: parts.join(""),
        isClosed: false,
      })),
    text.map((body) => ({ line: "x-none: 1", sent: body, body, isClosed: true })),
  );
  const interim = fc.constantFrom(
    "",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n",
  );
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 });
  fc.assert(
    fc.property(framing, interim, sizes, ({ line, sent, body, isClosed }, before, cuts) => {
      const [name = "", value] = line.split(": ");
      const read = readPieces(`${before}${head("X-A: one", line, "x-a:two  ")}${sent}`, cuts, { isClosed });
      expect(read).toEqual({
        status: 200,
        headers: { "x-a": "one, two", [name.toLowerCase()]: value },
        body,
        keepAlive: !isClosed,
        hintMs: undefined,
      });
    }),
  );
});

test.each([
  ["a status that has no body", "HTTP/1.1 204 No Content\r\n\r\n", {}],
  ["an unchanged page", "HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n", {}],
  ["an answer to HEAD", head("content-length: 10"), { method: "HEAD" }],
  ["a length of nothing", head("content-length: 0"), {}],
])("%s ends with its headers", (_, text, options) => {
  expect(readPieces(text, [], options)).toMatchObject({ body: "", keepAlive: true });
});

test.each([
  ["HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n", false, undefined],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false, undefined],
  ["HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n", true, undefined],
  ["HTTP/1.1 200 OK\r\nkeep-alive: timeout=5, max=9\r\ncontent-length: 0\r\n\r\n", true, 4_000],
  ["HTTP/1.1 200 OK\r\nkeep-alive: timeout=0\r\ncontent-length: 0\r\n\r\n", true, 0],
])(
  "whether a connection may be used again, and for how long, is the server's word: %j",
  (text, keepAlive, hintMs) => {
    expect(readPieces(text, [])).toMatchObject({ keepAlive, hintMs });
  },
);

test("only set-cookie keeps its values apart", () => {
  const read = readPieces(
    head("set-cookie: a=1", "Set-Cookie: b=2", "vary: a", "vary: b", "content-length: 0"),
    [],
  );
  expect(read?.headers).toEqual({ "set-cookie": ["a=1", "b=2"], vary: "a, b", "content-length": "0" });
});

test("of a header that is no list the first value counts", () => {
  const read = readPieces(head("retry-after: 5", "Retry-After: 7", "content-length: 0"), []);
  expect(read?.headers).toEqual({ "retry-after": "5", "content-length": "0" });
});

test("headers named like parts of every object are headers", () => {
  const read = readPieces(head("__proto__: a", "constructor: b", "content-length: 0"), []);
  expect(Object.entries(read?.headers ?? {})).toEqual([
    ["__proto__", "a"],
    ["constructor", "b"],
    ["content-length", "0"],
  ]);
});

test.each([
  ["another protocol", "220 mail.example.org ESMTP\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
  ["a change of protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["two lengths", head("content-length: 1", "content-length: 2")],
  ["a length and chunks", head("content-length: 1", "transfer-encoding: chunked")],
  ["a negative length", head("content-length: -1")],
  ["a length that is no number", head("content-length: 1e3")],
  ["an encoding that was not asked for", head("transfer-encoding: gzip, chunked")],
  ["a folded header", head("x-a: one", " two")],
  ["a header without a name", head(": one")],
  ["a space before the colon", head("x-a : one")],
  ["a bare line feed in a header", head("x-a: one\ntwo")],
  ["a NUL in a header", head("x-a: \0")],
  ["a control character around a value", head("transfer-encoding: \x0bchunked")],
  ["a foreign space around a value", head("transfer-encoding: chunked\xa0")],
  ["a size of a chunk that is no number", `${head("transfer-encoding: chunked")}0x5\r\n`],
  ["a chunk that is longer than it says", `${head("transfer-encoding: chunked")}2\r\nabc\r\n`],
  ["a line that ends with a line feed alone", `${head("transfer-encoding: chunked")}2\nab\r\n`],
  ["an endless line", `${head("transfer-encoding: chunked")}2;${"x".repeat(5_000)}`],
  ["endless headers", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`],
  ["endless trailers", `${head("transfer-encoding: chunked")}0\r\n${"x: y\r\n".repeat(5_000)}`],
  ["more than one answer", `${head("content-length: 1")}aHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`],
])("%s is malformed", (_, text) => {
  expect(() => readPieces(text, [])).toThrow(MalformedResponse);
  expect(() =>
    readPieces(
      text,
      Array.from({ length: text.length }, () => 1),
    ),
  ).toThrow(MalformedResponse);
});

test("a connection that closes ends only a body without framing", () => {
  expect(readPieces(`${head("content-length: 3")}ab`, [], { isClosed: true })).toBeNull();
  expect(readPieces(`${head("transfer-encoding: chunked")}2\r\nab\r\n`, [], { isClosed: true })).toBeNull();
  expect(readPieces("HTTP/1.1 200", [], { isClosed: true })).toBeNull();
});
