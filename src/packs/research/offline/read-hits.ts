/** One result of a search, as it stands in a conversation. */
export type Hit = { readonly title: string; readonly url: string; readonly snippet: string };

const HIT = /^\d{1,3}\. (.+)\n {3}(https?:\/\/\S+)(?:\n {3}(.*))?$/gm;
const ADDRESS = /https?:\/\/[^\s<>"'`)\]}]+/g;

/** The results in a text that `web_search` or `listHits` wrote, each address once. */
export function readHits(text: string): Hit[] {
  const hits = new Map<string, Hit>();
  for (const [, title = "", url = "", snippet = ""] of text.matchAll(HIT))
    if (!hits.has(url)) hits.set(url, { title, url, snippet: snippet.trim() });
  return [...hits.values()];
}

/** Results as a numbered list. */
export function listHits(hits: readonly Hit[]): string {
  return hits
    .map(({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`)
    .join("\n");
}

/** All addresses in a text, each once, without the marks of the sentence they stand in. */
export function addressesIn(text: string): string[] {
  const found = [...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?]+$/, ""));
  return [...new Set(found)];
}
