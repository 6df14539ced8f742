// Messages in mbox files, and single ones as files hold them.

import { findExcess, normalizeLines } from "../mail/mail-format.ts";

/** A message as a file holds it, with what the file says beside it. */
export type FiledMail = {
  readonly bytes: Uint8Array;
  readonly isRead: boolean;
  /** When it came, if the file says so. */
  readonly envelopeMs: number | null;
};

/** With a year and a time, so that a paragraph that begins with "From" does not match. */
const SEPARATOR = /(?:^|(?<=\n\r?\n))From (?=[^\n]{0,500}\d{4})[^\n]{0,500}\d:\d\d[^\n]*(?:\n|$)/g;
const STATUS = /^(x-)?status:/i;

/** The messages of an mbox file (the `mboxrd` kind, in which `>From ` at the start of a line lost one `>`). */
export function* readMbox(content: Uint8Array): Generator<FiledMail> {
  const text = Buffer.from(content).toString("latin1");
  let last: { line: string; end: number } | undefined;
  for (const { 0: line, index } of text.matchAll(SEPARATOR)) {
    if (last) yield readFiled(text.slice(last.end, index), last.line);
    last = { line, end: index + line.length };
  }
  if (last) yield readFiled(text.slice(last.end), last.line);
}

function readFiled(text: string, separator: string): FiledMail {
  // The blank line before a separator, and before the end of the file, belongs to no message.
  const body = text.replace(/(^|\n)\r?\n$/, "$1").replaceAll(/^>(>*From )/gm, "$1");
  const { bytes, isRead } = readFiledMail(Buffer.from(body, "latin1"));
  const time = /^From \S* *(.*)$/m.exec(separator)?.[1]?.trim() ?? "";
  const ms = Date.parse(/[+-]\d{4}|GMT|UTC/.test(time) ? time : `${time} UTC`);
  return { bytes, isRead, envelopeMs: Number.isNaN(ms) ? null : ms };
}

/** A single message: its `Status` header, which says whether it was read, is not part of what was sent. */
export function readFiledMail(content: Uint8Array): FiledMail {
  // Reading it will fail, so there is no use in parsing it here.
  if (findExcess(content)) return { bytes: content, isRead: false, envelopeMs: null };
  const text = Buffer.from(normalizeLines(content)).toString("latin1");
  const end = text.startsWith("\r\n") ? 0 : text.indexOf("\r\n\r\n");
  const head = (end < 0 ? text : text.slice(0, end)).split("\r\n");
  const states = head.filter((line) => STATUS.test(line));
  const kept = head.filter((line) => !STATUS.test(line)).join("\r\n");
  const rest = end < 0 ? "" : text.slice(end);
  const isRead = states.some((line) => /^status:.*R/i.test(line) && !/^status:\s*O\s*$/i.test(line));
  const whole = kept === "" ? rest.replace(/^\r\n/, "") : `${kept}${rest}`;
  return {
    bytes: states.length === 0 ? Buffer.from(text, "latin1") : normalizeLines(Buffer.from(whole, "latin1")),
    isRead,
    envelopeMs: null,
  };
}

/** A message as an mbox file holds it. */
export function writeMbox(
  bytes: Uint8Array,
  { isRead, dateMs }: { isRead: boolean; dateMs: number },
): Buffer {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll("\r\n", "\n")
    .replaceAll(/^(>*From )/gm, ">$1");
  return Buffer.from(
    `From retinue ${writeAsctime(dateMs)}\nStatus: ${isRead ? "RO" : "O"}\n${text}\n`,
    "latin1",
  );
}

function writeAsctime(ms: number): string {
  const [weekday, day, month, year, time] = new Date(ms).toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2, " ")} ${time} ${Number(year)}`;
}
