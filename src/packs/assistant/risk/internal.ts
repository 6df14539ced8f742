import { domainOf, sameAddress } from "./parse-address.ts";

/** Domains where anybody can have a mailbox: sharing one says nothing about belonging together. */
export const PUBLIC_DOMAINS: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com yahoo.co.uk ymail.com icloud.com me.com mac.com
  aol.com proton.me protonmail.com pm.me gmx.de gmx.net gmx.com web.de t-online.de freenet.de posteo.de mailbox.org
  fastmail.com zoho.com mail.com yandex.com mail.ru qq.com 163.com tutanota.com hey.com orange.fr free.fr laposte.net
  libero.it wanadoo.fr comcast.net verizon.net att.net btinternet.com`.split(/\s+/),
);

/** Whose mail it is, and which domains are inside besides. */
export type Household = { readonly self: string; readonly internalDomains: readonly string[] };

/**
 * Whether an address is inside: the owner's own, one of the owner's domain, or one of a domain the owner named; of a
 * public domain only the owner's own is.
 */
export function isInternal(address: string, { self, internalDomains }: Household): boolean {
  if (sameAddress(address, self)) return true;
  const domain = domainOf(address).toLowerCase();
  if (PUBLIC_DOMAINS.has(domain)) return false;
  return internalDomains.includes(domain) || domain === domainOf(self).toLowerCase();
}
