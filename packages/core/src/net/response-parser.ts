/** What a server sends on one connection, taken apart. */
export type ResponseEvents = {
  /** Status and headers of the final response are in; those of interim ones (100 to 199) are skipped. */
  onHead(status: number, headers: ResponseHeaders): void;
  /** A piece of the body, in the bytes that were pushed. */
  onBody(bytes: Buffer): void;
  /** The response is over. With `keepAlive` the connection may serve another request, for so many milliseconds if the server said. */
  onEnd(keepAlive: boolean, hintMs: number | undefined): void;
};

/** Names are lower case. Only `set-cookie` may have several values; those of other lists are joined, and of the rest the first counts. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What came is no HTTP response, or one whose end cannot be told for certain. */
export class MalformedResponse extends Error {}

const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size with its extensions, or one line after the last chunk. */
const MAX_LINE_BYTES = 4 * 1024;
const MAX_TRAILER_BYTES = 16 * 1024;
/** The server's word on how long it keeps an idle connection is shortened by the time a request may be on its way. */
const HINT_MARGIN_MS = 1_000;

const LF = 0x0a;
const EMPTY = Buffer.alloc(0);

type State = "head" | "sized" | "chunk.size" | "chunk.data" | "chunk.end" | "trailers" | "unbounded" | "over";

/**
 * Reads one HTTP/1.1 response at a time from the bytes of a connection, however they are cut. Strict where a lenient reader
 * could take one server's bytes for another answer: a response with two lengths, a bare carriage return or a folded header
 * is malformed.
 */
export class ResponseParser {
  readonly #events: ResponseEvents;
  #state: State = "over";
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;
  /** The beginning of a head or a line whose end has not come yet. */
  #rest: Buffer = EMPTY;
  #trailerBytes = 0;
  #keepAlive = false;
  #hintMs: number | undefined;
  /** A body is expected only where the request allows one. */
  #hasNoBody = false;
  #hasBegun = false;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** Expects the response to the next request. */
  expect(method: string): void {
    this.#state = "head";
    this.#hasBegun = false;
    this.#hasNoBody = method === "HEAD";
  }

  /** Something of the expected response has come, or an interim one: the server has seen the request. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Takes bytes, which are read before it returns. Throws `MalformedResponse`. */
  push(bytes: Buffer): void {
    this.#hasBegun = true;
    let at = 0;
    while (at < bytes.length) at = this.#step(bytes, at);
  }

  /** The connection was closed by the server; true if that ended the response as it should. */
  close(): boolean {
    if (this.#state !== "unbounded") return false;
    this.#finish(false);
    return true;
  }

  /** Reads one element, and says where the next one begins. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, at);
      case "sized":
      case "chunk.data": {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        this.#events.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
        if (this.#left > 0) return end;
        if (this.#state === "sized") this.#finish(this.#keepAlive);
        else this.#state = "chunk.end";
        return end;
      }
      case "chunk.size":
      case "chunk.end":
      case "trailers":
        return this.#readLine(bytes, at);
      case "unbounded":
        this.#events.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case "over":
        throw new MalformedResponse("it sent more than it was asked for");
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    let head = at === 0 ? bytes : bytes.subarray(at);
    const before = this.#rest.length;
    if (before > 0) {
      head = Buffer.concat([this.#rest, head]);
      this.#rest = EMPTY;
    }
    const end = head.indexOf("\r\n\r\n");
    if ((end === -1 ? head.length : end) > MAX_HEAD_BYTES)
      throw new MalformedResponse("its headers are too long");
    if (end === -1) {
      if (!mayBeHead(head)) throw new MalformedResponse("it does not begin like a response");
      this.#rest = Buffer.from(head);
      return bytes.length;
    }
    this.#takeHead(head.toString("latin1", 0, end));
    return at + end + 4 - before;
  }

  #takeHead(head: string): void {
    const lineEnd = head.indexOf("\r\n");
    const line = lineEnd === -1 ? head : head.slice(0, lineEnd);
    const start = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(line);
    if (!start) throw new MalformedResponse("it does not begin like a response");
    const status = Number(start[2]);
    if (status === 101) throw new MalformedResponse("it changes the protocol");
    if (status < 200) return;
    const headers = readHeaders(head, lineEnd === -1 ? head.length : lineEnd + 2);
    const connection = headers.connection;
    const hint = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(String(headers["keep-alive"] ?? ""))?.[1];
    this.#hintMs = hint === undefined ? undefined : Math.max(0, Number(hint) * 1_000 - HINT_MARGIN_MS);
    this.#keepAlive = start[1] === "1" ? !hasToken(connection, "close") : hasToken(connection, "keep-alive");
    this.#frame(status, headers);
    const isOver = this.#state === "over";
    this.#events.onHead(status, headers);
    if (isOver) this.#events.onEnd(this.#keepAlive, this.#hintMs);
  }

  /** Finds out how the end of the body will be known. */
  #frame(status: number, headers: ResponseHeaders): void {
    const { "transfer-encoding": encoding, "content-length": length } = headers;
    if (encoding !== undefined && length !== undefined)
      throw new MalformedResponse("it gives its length in two ways");
    if (this.#hasNoBody || status === 204 || status === 304) this.#state = "over";
    else if (encoding !== undefined) {
      if (String(encoding).toLowerCase() !== "chunked")
        throw new MalformedResponse("it is encoded in a way that was not asked for");
      this.#state = "chunk.size";
    } else if (length === undefined) this.#state = "unbounded";
    else {
      if (!/^\d{1,15}$/.test(String(length))) throw new MalformedResponse("its length is no number");
      this.#left = Number(length);
      this.#state = this.#left === 0 ? "over" : "sized";
    }
  }

  #readLine(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(LF, at);
    const end = newline === -1 ? bytes.length : newline + 1;
    if (this.#rest.length + end - at > MAX_LINE_BYTES)
      throw new MalformedResponse("a line of it is too long");
    if (newline === -1) {
      this.#rest = Buffer.concat([this.#rest, bytes.subarray(at)]);
      return end;
    }
    let line = bytes.toString("latin1", at, end);
    if (this.#rest.length > 0) {
      line = this.#rest.toString("latin1") + line;
      this.#rest = EMPTY;
    }
    if (!line.endsWith("\r\n")) throw new MalformedResponse("a line of it has no proper end");
    this.#takeLine(line.slice(0, -2));
    return end;
  }

  #takeLine(line: string): void {
    if (this.#state === "chunk.end") {
      if (line !== "") throw new MalformedResponse("a chunk of it is longer than it said");
      this.#state = "chunk.size";
    } else if (this.#state === "chunk.size") {
      const size = /^([0-9a-f]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/i.exec(line)?.[1];
      if (size === undefined) throw new MalformedResponse("the size of a chunk is no number");
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? "trailers" : "chunk.data";
      this.#trailerBytes = 0;
    } else if (line === "") this.#finish(this.#keepAlive);
    else {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > MAX_TRAILER_BYTES) throw new MalformedResponse("its trailers are too long");
    }
  }

  #finish(keepAlive: boolean): void {
    this.#state = "over";
    this.#events.onEnd(keepAlive, this.#hintMs);
  }
}

const BEGINNING = Buffer.from("HTTP/1.");

/** Whether bytes can be the beginning of a head, so that a server of another kind is not waited for. */
function mayBeHead(bytes: Buffer): boolean {
  const length = Math.min(BEGINNING.length, bytes.length);
  return bytes.compare(BEGINNING, 0, length, 0, length) === 0;
}

/** The name of a header. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What the value of a header must not hold. */
export const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

function readHeaders(head: string, from: number): ResponseHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let at = from; at < head.length; ) {
    const next = head.indexOf("\r\n", at);
    const end = next === -1 ? head.length : next;
    const colon = head.indexOf(":", at);
    if (colon === -1 || colon >= end) throw new MalformedResponse("a header of it has no name");
    addHeader(headers, head.slice(at, colon), head.slice(colon + 1, end));
    at = end + 2;
  }
  return headers;
}

/** Headers that are no lists, of those that anybody here reads: two dates joined by a comma are another date. */
const SINGLE = new Set(["content-type", "location", "retry-after", "retry-after-ms"]);

function addHeader(headers: Record<string, string | string[]>, sentName: string, sent: string): void {
  if (!HEADER_NAME.test(sentName) || NOT_IN_HEADER.test(sent))
    throw new MalformedResponse("a header of it is malformed");
  const value = trimBlanks(sent);
  const name = sentName.toLowerCase();
  const before = headers[name];
  if (name === "set-cookie") headers[name] = [...(before ?? []), value];
  else if (before === undefined) headers[name] = value;
  else if (name === "content-length") {
    if (before !== value) throw new MalformedResponse("it gives two lengths");
  } else if (!SINGLE.has(name)) headers[name] = `${before}, ${value}`;
}

/** Without the blanks around it; `trim` would also take what HTTP does not call blank. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

function hasToken(value: string | string[] | undefined, token: string): boolean {
  return (
    value !== undefined &&
    String(value)
      .split(",")
      .some((one) => one.trim().toLowerCase() === token)
  );
}
