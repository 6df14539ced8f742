// Mail servers of well-known domains, and servers as a person writes them.

import { RetinueError } from "@retinue/core/schema/error";
import { readDomain } from "../recipients/mail-address.ts";
import type { MailServer } from "./accounts.ts";

/** Where the mail of a domain is. */
type MailServers = { readonly imap: MailServer; readonly smtp: MailServer; readonly hint?: string };

const APP_PASSWORD = "it takes an app password, not the account's own";
const at = (imap: string, smtp: string, hint?: string, smtpPort = 465): MailServers => ({
  imap: { host: imap, port: 993, secure: true },
  smtp: { host: smtp, port: smtpPort, secure: smtpPort === 465 },
  ...(hint !== undefined && { hint }),
});
const GMAIL = at("imap.gmail.com", "smtp.gmail.com", APP_PASSWORD);
const ICLOUD = at("imap.mail.me.com", "smtp.mail.me.com", APP_PASSWORD, 587);
const YAHOO = at("imap.mail.yahoo.com", "smtp.mail.yahoo.com", APP_PASSWORD);
const FASTMAIL = at("imap.fastmail.com", "smtp.fastmail.com", APP_PASSWORD);
const GMX = at("imap.gmx.net", "mail.gmx.net", "switch IMAP on in its settings first");
const BY_DOMAIN: ReadonlyMap<string, MailServers> = new Map([
  ["gmail.com", GMAIL],
  ["googlemail.com", GMAIL],
  ["icloud.com", ICLOUD],
  ["me.com", ICLOUD],
  ["mac.com", ICLOUD],
  ["yahoo.com", YAHOO],
  ["ymail.com", YAHOO],
  ["aol.com", at("imap.aol.com", "smtp.aol.com", APP_PASSWORD)],
  ["fastmail.com", FASTMAIL],
  ["fastmail.fm", FASTMAIL],
  ["gmx.net", GMX],
  ["gmx.de", GMX],
  ["gmx.com", at("imap.gmx.com", "mail.gmx.com", "switch IMAP on in its settings first")],
  ["web.de", at("imap.web.de", "smtp.web.de", "switch IMAP on in its settings first")],
  ["posteo.de", at("posteo.de", "posteo.de")],
  ["mailbox.org", at("imap.mailbox.org", "smtp.mailbox.org")],
  ["zoho.com", at("imap.zoho.com", "smtp.zoho.com", APP_PASSWORD)],
]);

/** The servers of a well-known domain; undefined if it is none. */
export function findKnownServers(address: string): MailServers | undefined {
  return BY_DOMAIN.get(findMailDomain(address));
}

/** The domain of an address, in lower case. */
export function findMailDomain(address: string): string {
  return readDomain(address).toLowerCase();
}

/** A server from `host` or `host:port`; ports other than the two usual ones for TLS turn to it after the greeting. */
export function parseServer(text: string, usualPort: number): MailServer {
  const { host, port = "" } =
    /^(?<host>\[[\da-f:]+\]|[^\s:/@]+)(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups ?? {};
  const number = port === "" ? usualPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw new RetinueError(
      "usage",
      `'${text}' is not a server`,
      "write it like mail.example.org or mail.example.org:993",
    );
  return { host: host.replaceAll(/[[\]]/g, ""), port: number, secure: number === 993 || number === 465 };
}
