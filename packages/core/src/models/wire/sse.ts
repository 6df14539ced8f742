import { Lines } from "./lines.ts";

/** Receives the lines of an event stream that carry something. */
export type SseHandler = {
  /** One `data:` line without its field name. */
  data(text: string): void;
  /** A comment, which servers send to keep a connection alive. */
  comment(): void;
};

const COLON = 58;
const SPACE = 32;

/**
 * Reads an event stream. Each `data:` line is one payload: the wire formats send single-line JSON, and servers that
 * forget the blank line between events are understood too.
 */
export class SseLines extends Lines {
  constructor(handler: SseHandler, maxLineBytes: number) {
    super((text, from, to) => {
      if (text.startsWith("data:", from)) {
        handler.data(text.slice(text.charCodeAt(from + 5) === SPACE ? from + 6 : from + 5, to));
      } else if (text.charCodeAt(from) === COLON) {
        handler.comment();
      }
    }, maxLineBytes);
  }
}
