import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { compileWildcard, matchesWildcard, type Wildcard } from "../../text/wildcard.ts";

/**
 * A pattern on hosts. `*.example.org` covers every name below example.org but not example.org itself, which
 * has to be listed; an address in numbers is covered only by itself or by `*`.
 */
export type HostPattern = { readonly text: string; readonly wildcard: Wildcard };

/** Compiles a host pattern to the ASCII form in which names are compared. */
export function compileHostPattern(pattern: string): HostPattern {
  const text = normaliseHost(pattern);
  return { text, wildcard: compileWildcard(text) };
}

/** The form in which hosts are compared: lower case, punycode, no brackets, no trailing dot. */
export function normaliseHost(host: string): string {
  const bare = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/(?<!\.)\.+$/, "")
    .toLowerCase();
  return /^[ -~]*$/.test(bare) ? bare : domainToASCII(bare) || bare;
}

/** Whether an allow rule covers a normalised host. */
export function allowsHost(pattern: HostPattern, host: string): boolean {
  if (!/^[a-z0-9._-]+$/.test(host) && isIP(host) === 0) return false;
  if (isIP(host) !== 0 && pattern.text !== "*") return pattern.text === host;
  return matchesWildcard(pattern.wildcard, host);
}

/** Whether an ask or deny rule touches a normalised host. */
export function touchesHost(pattern: HostPattern, host: string): boolean {
  return matchesWildcard(pattern.wildcard, host);
}

/** A pattern on recipients, compared without regard to case; a `+tag` counts. */
export type RecipientPattern = Wildcard;

/** Compiles a recipient pattern such as `*@acme.com`. */
export function compileRecipientPattern(pattern: string): RecipientPattern {
  return compileWildcard(foldAddress(pattern));
}

/**
 * Whether an allow rule covers an address. Anything a mail server could read in two ways is never covered:
 * characters outside ASCII (look-alikes), several addresses in one, display names, quoted parts, relay marks.
 */
export function allowsRecipient(pattern: RecipientPattern, address: string): boolean {
  if (!/^[\w.#$&'*+/=?^`{|}~@-]{1,320}$/.test(address)) return false;
  if (address.indexOf("@") !== address.lastIndexOf("@")) return false;
  return matchesWildcard(pattern, foldAddress(address));
}

/** Whether an ask or deny rule touches an address, also as one of several or inside a display form. */
export function touchesRecipient(pattern: RecipientPattern, address: string): boolean {
  const folded = foldAddress(address);
  if (matchesWildcard(pattern, folded)) return true;
  return folded
    .split(/[\s,;<>"()[\]]+/)
    .some((piece) => piece !== "" && matchesWildcard(pattern, foldAddress(piece)));
}

function foldAddress(address: string): string {
  return address
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toLowerCase()
    .trim()
    .replace(/(?<!\.)\.+$/, "");
}
