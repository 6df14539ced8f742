import { canonicalAddress, isAtHost } from "../net/web-address.ts";
import { excerpt, MAX_RESULT_CHARS } from "../tools/truncate.ts";

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
 * wrote, what came from outside in searches and pages, and what was asked for before. Text that a run supplied itself
 * makes no address known, wherever it comes back. Compared whole: an address that only begins like a known one is another
 * address.
 */
export class KnownAddresses {
  /** Whether each may carry what runs know: a model put it together and a person let it go, or it comes from an answer to such a one. */
  readonly #known = new Map<string, boolean>();
  readonly #ownHosts: ReadonlySet<string>;

  /** Hosts of the user's own network may serve what a run wrote. */
  constructor(ownHosts: readonly string[] = []) {
    this.#ownHosts = new Set(ownHosts.map((host) => host.toLowerCase()));
  }

  /** Takes in what a person wrote; people leave out the scheme. */
  addTyped(text: string): void {
    this.add(addressesIn(text), false);
    for (const [bare] of text.matchAll(BARE))
      for (const scheme of ["https://", "http://"]) this.add(readings(cutAddress(scheme + bare, 0)), false);
  }

  /** Takes in addresses, or what else calls ask the web for. One that somebody outside has named by himself carries nothing. */
  add(requests: readonly string[], carry: boolean): void {
    for (const request of requests.map(canonicalAddress))
      if (!carry || !this.#known.has(request)) this.#known.set(request, carry);
  }

  has(request: string): boolean {
    return this.#known.has(canonicalAddress(request));
  }

  /** Whether the answer to it may hold what runs know: because it carries that, or because a run may have written it. */
  carries(request: string): boolean {
    const address = canonicalAddress(request);
    const url = URL.parse(address);
    return this.#known.get(address) === true || (url !== null && isAtHost(url, this.#ownHosts));
  }
}

/**
 * The addresses that may be asked for because an answer showed them, in texts that came from outside. What requests
 * carried may come back in the answer, however it is written by then; so that answer leads only to those who were told.
 */
export function readShown(texts: readonly string[], carrying: readonly string[]): readonly string[] {
  const shown = addressesIn(excerpt(texts.join("\n"), MAX_RESULT_CHARS, "")).map(canonicalAddress);
  const told = new Set(carrying.flatMap((request) => URL.parse(request)?.origin ?? []));
  return [...new Set(shown)].filter(
    (address) => carrying.length === 0 || told.has(URL.parse(address)?.origin ?? ""),
  );
}

function addressesIn(text: string): string[] {
  return [...text.matchAll(BEGINNING)].flatMap(({ index }) => readings(cutAddress(text, index)));
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
