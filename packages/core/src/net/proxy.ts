import { TransportError } from "../schema/transport.ts";

/** A proxy that requests to some host go through. */
export type ProxyServer = {
  secure: boolean;
  hostname: string;
  port: number;
  /** The value of `proxy-authorization`, if the proxy wants a login. */
  authorization?: string;
};

/** The proxy that the environment names for an address, as curl and Node read it; null for a direct connection. */
export function findProxy(url: URL, env: NodeJS.ProcessEnv): ProxyServer | null {
  const read = (name: string) => env[name] || env[name.toUpperCase()] || "";
  const named = read(url.protocol === "https:" ? "https_proxy" : "http_proxy");
  if (named === "" || isExempt(url, read("no_proxy"))) return null;
  const proxy = URL.parse(named.includes("://") ? named : `http://${named}`);
  if (!proxy || (proxy.protocol !== "http:" && proxy.protocol !== "https:"))
    throw new TransportError(
      "other",
      url.host,
      "the proxy that HTTP_PROXY or HTTPS_PROXY names is no http or https address, such as http://proxy.example.org:3128",
    );
  const secure = proxy.protocol === "https:";
  const hasLogin = proxy.username !== "" || proxy.password !== "";
  return {
    secure,
    hostname: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: Number(proxy.port || (secure ? 443 : 80)),
    ...(hasLogin && { authorization: writeLogin(proxy, url.host, "the proxy's address") }),
  };
}

/** The login of an address as a header says it. */
export function writeLogin({ username, password }: URL, host: string, place: string): string {
  try {
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(login).toString("base64")}`;
  } catch {
    throw new TransportError("other", host, `the user name or password in ${place} is not encoded rightly`);
  }
}

/** Whether `NO_PROXY` names a host: by its name, a domain above it, an address, a range of addresses, with a port or without. */
function isExempt(url: URL, list: string): boolean {
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => {
    const rule = entry.toLowerCase();
    if (rule === "*") return true;
    const range = /^(\d+\.\d+\.\d+\.\d+)-(\d+\.\d+\.\d+\.\d+)$/.exec(rule);
    if (range) return isBetween(hostname, range[1] ?? "", range[2] ?? "");
    // The colons of an IPv6 address are part of it, unless it is in brackets.
    if (/^[^[].*:.*:/.test(rule) || rule.startsWith("::")) return hostname === rule;
    const [, name = "", ofPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(rule) ?? [];
    if (ofPort !== undefined && ofPort !== port) return false;
    const domain = name.replace(/^\*?\./, "");
    return domain !== "" && (hostname === domain || hostname.endsWith(`.${domain}`));
  });
}

function isBetween(hostname: string, first: string, last: string): boolean {
  const address = readAddress(hostname);
  return (
    address !== null && address >= (readAddress(first) ?? Infinity) && address <= (readAddress(last) ?? -1)
  );
}

function readAddress(text: string): number | null {
  const parts = text.split(".").map(Number);
  const isAddress =
    parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part < 256);
  return isAddress ? parts.reduce((sum, part) => sum * 256 + part, 0) : null;
}
