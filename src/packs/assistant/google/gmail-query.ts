import { ToolFault } from "../errors/tool-fault.ts";
import type { MailQuery } from "../mail/mail-provider.ts";

/** Words that Gmail reads as operators when they stand alone. */
const OPERATOR_WORDS: ReadonlySet<string> = new Set(["AND", "OR", "AROUND", "NOT"]);
const PLAIN_WORD = /^[\p{L}\p{N}](?:[\p{L}\p{N}@._+'’-]*[\p{L}\p{N}])?$/u;

/** What is searched for in Gmail's own language; nothing in a value can become an operator. */
export function gmailQuery(query: MailQuery): string {
  const parts = [
    ...phrasesOf(query.text).map(term),
    ...field("from", query.from),
    ...field("to", query.to),
    ...field("subject", query.subject),
  ].filter(Boolean);
  if (query.after) parts.push(`after:${secondsOf(query.after) - 1}`);
  if (query.before) parts.push(`before:${secondsOf(query.before) + 1}`);
  if (query.unread !== undefined) parts.push(query.unread ? "is:unread" : "is:read");
  if (query.hasAttachment !== undefined) {
    parts.push(query.hasAttachment ? "has:attachment" : "-has:attachment");
  }
  return parts.join(" ");
}

/** Whether a moment is within a query's own bounds; Gmail's are whole seconds. */
export function isWithin(date: string, { after, before }: MailQuery): boolean {
  const moment = Date.parse(date);
  return (!after || moment >= Date.parse(after)) && (!before || moment < Date.parse(before));
}

/** Each word must be there; a value in quotes stays one phrase. */
function field(name: string, value: string | undefined): string[] {
  return phrasesOf(value)
    .map(term)
    .filter(Boolean)
    .map((one) => `${name}:${one}`);
}

function phrasesOf(text = ""): string[] {
  return Array.from(text.matchAll(/"([^"]*)"|[^\s"]+/g), ([whole, phrase]) => phrase ?? whole);
}

/** A plain word as it is; all else as a phrase, whose punctuation Gmail ignores. */
function term(phrase: string): string {
  const bare = phrase.replace(/^[-+~{}()[\]]+|[{}()[\]]+$/g, "");
  if (PLAIN_WORD.test(bare) && !OPERATOR_WORDS.has(bare.toUpperCase())) return bare;
  const quoted = bare.replace(/["\\:\p{Cc}]+/gu, " ").trim();
  return quoted ? `"${quoted}"` : "";
}

function secondsOf(date: string): number {
  const moment = Date.parse(date);
  if (Number.isNaN(moment)) throw new ToolFault("params", `'${date}' is no date`);
  return Math.floor(moment / 1_000);
}
