import { parseWebAddress } from "@retinue/core/net/web-address";

/** Parameters that say where a reader came from, not what is read. */
const TRACKING =
  /^(utm_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hs(enc|mi)|mkt_tok|ref_src|spm|vero_id|wickedid)$/i;

/** One form for all spellings of an address; undefined if it is no address on the web. */
export function toCanonicalUrl(text: string): string | undefined {
  const address = parseWebAddress(text.trim());
  if (!("url" in address)) return undefined;
  const { url } = address;
  const kept = [...url.searchParams].filter(([name]) => !TRACKING.test(name));
  if (kept.length < url.searchParams.size) url.search = new URLSearchParams(kept).toString();
  if (url.search === "") url.search = "";
  url.pathname = url.pathname.replace(/\/+$/, "") || "/";
  return url.href;
}

/** The canonical form of what a page says its address is, believed only about its own host: a page must not pass for another's. */
export function checkStatedUrl(stated: string | undefined, reached: string): string | undefined {
  const canonical = stated && toCanonicalUrl(stated);
  return canonical && findDomain(canonical) === findDomain(reached) ? canonical : undefined;
}

/** The host of an address with its port if it is not the usual one, without `www.`; undefined if there is none. */
export function findDomain(text: string): string | undefined {
  const address = parseWebAddress(text);
  return "url" in address ? address.url.host.replace(/^www\./, "") : undefined;
}
