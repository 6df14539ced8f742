const OPEN = "\ue000";
const CLOSE = "\ue001";
const QUOTED =
  /```([\s\S]*?)```|"([^"]*)"|“([^”]*)”|«([^»]*)»|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])‘([^’\n]+)’(?![\p{L}\p{N}])/gu;
const COURTESY =
  /^(?:(?:please|pls|plz|kindly|hey|hi|hello|ok|okay|so|now|also|then|first|next|finally|and|just|quickly|go ahead and|(?:can|could|would|will) (?:you|u|ya)(?: please| pls)?|(?:can|could|shall) we|can i|i(?:['’]d| would) like(?: you)? to|i (?:want|need)(?: you)? to|we (?:want|need) to|let['’]?s|help me(?: to)?)\b[\s,:]*)+/i;
/** A verb or question word at the beginning is no part of the name that follows it. */
const FIRST_WORD =
  /^(?:Find|Show|Get|List|Search|Look|Pull|Dig|What|Whatever|Who|Which|When|Check|Read|Open|Send|Tell|Let|Did|Has|Is|Are|Give|Fetch|Email|Mail|Invite|Schedule|Book|Post)\b/;
const AFTERTHOUGHT =
  /[\s,]*(?:\b(?:please|pls|thanks|thank you|for me|asap|right away|right now)\b[\s,.!]*)+$/i;

/** Longer requests are not read: rules understand sentences, not documents. */
export const MAX_REQUEST_CHARS = 8_000;

/** A request with its quotations taken out, so that rules read only what is asked and never what is cited. */
export type Wording = {
  /** As it was given. */
  readonly text: string;
  /** One line; each quotation is a single placeholder, `QUOTE` matches it. Courtesies at both ends are gone. */
  readonly head: string;
  /** Whether it ends in a question mark. */
  readonly asks: boolean;
  /** Puts what was quoted back, without its marks. */
  restore(piece: string): string;
  /** Puts what was quoted back between marks. */
  requote(piece: string): string;
};

/** Source of a pattern for one quotation in a head. */
export const QUOTE = `${OPEN}\\d+${CLOSE}`;

/** Reads a request. */
export function readWording(text: string): Wording {
  const quotes: string[] = [];
  const masked = text
    .replace(/[\ue000\ue001]/g, "")
    .replace(QUOTED, (_, ...parts: unknown[]) => {
      const inner = parts.slice(0, 6).find((part) => typeof part === "string");
      return ` ${OPEN}${quotes.push(String(inner ?? "").trim()) - 1}${CLOSE} `;
    })
    .replace(/\s+/g, " ")
    .replace(/ (?=[.,;:?!])/g, "")
    .trim();
  const asks = masked.endsWith("?");
  const head = masked
    .replace(COURTESY, "")
    .replace(/[.?!\s]+$/, "")
    .replace(AFTERTHOUGHT, "")
    .replace(FIRST_WORD, (word) => word.toLowerCase());
  const put = (piece: string, mark: (quote: string) => string) =>
    piece
      .replace(/\ue000(\d+)\ue001/g, (_, at) => mark(quotes[Number(at)] ?? ""))
      .replace(/[ \t]+/g, " ")
      .trim();
  return {
    text,
    head,
    asks,
    restore: (piece) => put(piece, (quote) => quote),
    requote: (piece) => put(piece, quoteText),
  };
}

/** A text between marks, so that rules take it as one piece, whatever stands in it. */
export function quoteText(text: string): string {
  return `“${text.replace(/[“”]/g, '"')}”`;
}

/** A text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Every word with its first letter in upper case, as subjects of mails are written. */
export function capitaliseWords(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}'’])\p{Ll}/gu, (letter) => letter.toUpperCase());
}
