import { parseWebAddress } from "../net/web-address.ts";

/** Where an address in a text begins. */
const BEGINNING = /https?:\/\//gi;
/** An address without a scheme, as people write it. */
const BARE = /(?<![\w@./:%-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d{1,5})?(?![\w@.:-])(?:[/?][^\s<>"`\\]*)?/gi;
/** What ends an address in running text. */
const ENDING = /[\s<>"`\\{}|^\p{Cc}]/u;
const PUNCTUATION = /[.,;:!?'*_~]+$/;
/** Texts longer than any address are not looked through for one. */
const MAX_CHARS = 8_192;

/**
 * The addresses that the runs of a session may go to though they hold private data and untrusted text: what the person
 * wrote, what searches and pages showed, and what was asked for while nobody needed to be asked. Compared whole: an
 * address that only begins like a known one is another address.
 */
export class KnownAddresses {
  readonly #known = new Set<string>();

  /** Takes in what a person wrote; people leave out the scheme. */
  addTyped(text: string): void {
    this.addShown(text);
    for (const [bare] of text.matchAll(BARE))
      for (const scheme of ["https://", "http://"])
        for (const one of readings(cutAddress(scheme + bare, 0))) this.addAsked(one);
  }

  /** Takes in what a search or a page showed. */
  addShown(text: string): void {
    for (const { index } of text.matchAll(BEGINNING))
      for (const one of readings(cutAddress(text, index))) this.addAsked(one);
  }

  /** Takes in one address, or the words of one search. */
  addAsked(request: string): void {
    this.#known.add(canonical(request));
  }

  has(request: string): boolean {
    return this.#known.has(canonical(request));
  }
}

/** An address as it is asked for; other text as it is. */
function canonical(request: string): string {
  const read = parseWebAddress(request.trim());
  return "url" in read ? read.url.href : request;
}

/** The address that begins at a place of a text; brackets that it did not open itself end it. */
function cutAddress(text: string, start: number): string {
  const closers: string[] = [];
  let end = start;
  for (; end < text.length && end - start < MAX_CHARS; end++) {
    const at = text[end] ?? "";
    if (ENDING.test(at)) break;
    if (at === "(" || at === "[") closers.push(at === "(" ? ")" : "]");
    if ((at === ")" || at === "]") && closers.pop() !== at) break;
  }
  return text.slice(start, end);
}

/** With and without the punctuation of the sentence that it may end. */
function readings(address: string): readonly string[] {
  const plain = address.replace(PUNCTUATION, "");
  return plain === address ? [address] : [address, plain];
}
