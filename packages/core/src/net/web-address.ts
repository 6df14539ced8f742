/** An address as it will really be asked for, or what is wrong with it. */
export type WebAddress = { url: URL } | { problem: string };

const MAX_ADDRESS_CHARS = 8_192;

/** Control characters (which URL parsers drop silently, so that two readers may see two hosts). */
const CONTROLS = /[^\P{Cc}]/u;

/**
 * Reads an address in the one canonical form that rules and connections share: http or https, no login, no fragment,
 * the host in lower-case ASCII without a trailing dot, and every spelling of an IP address as that address.
 */
export function parseWebAddress(text: string, base?: URL): WebAddress {
  if (text.length > MAX_ADDRESS_CHARS)
    return { problem: `the address is longer than ${MAX_ADDRESS_CHARS} characters` };
  if (CONTROLS.test(text)) return { problem: "the address contains control characters" };
  const url = URL.parse(text, base?.href);
  if (!url) return { problem: "the address is not a URL" };
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return { problem: `the address is ${url.protocol.slice(0, 20)} and not http or https` };
  }
  if (url.username || url.password) return { problem: "the address contains a login" };
  const host = url.hostname;
  if (host.endsWith(".")) url.hostname = host.replace(/\.+$/, "");
  if (url.hostname === "" || url.hostname.endsWith(".")) return { problem: "the address names no host" };
  url.hash = "";
  if (url.href.length > MAX_ADDRESS_CHARS)
    return { problem: `the address is longer than ${MAX_ADDRESS_CHARS} characters` };
  return { url };
}

/** An address in its canonical form, as it is asked for; other text as it is, without space around it. */
export function canonicalAddress(text: string): string {
  const address = parseWebAddress(text.trim());
  return "url" in address ? address.url.href : text.trim();
}

/** Whether an address leads to a host of a list, in which a host may have a port. */
export function isAtHost(url: URL, hosts: ReadonlySet<string>): boolean {
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return hosts.has(url.hostname) || hosts.has(bare) || hosts.has(`${url.hostname}:${port}`);
}

/** The host of an address as it will be contacted, for rules; undefined if the address is not acceptable. */
export function hostOf(text: string): string | undefined {
  const address = parseWebAddress(text);
  return "url" in address ? address.url.hostname : undefined;
}
