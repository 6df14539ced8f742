import { getCACertificates } from "node:tls";

/** Where a server listens; `secure` speaks TLS from the first byte. */
export type MailServer = { readonly host: string; readonly port: number; readonly secure: boolean };

/** A mailbox that is read by IMAP and sends by SMTP. */
export type ImapOptions = {
  /** The owner's address. */
  readonly address: string;
  readonly name?: string;
  readonly user: string;
  readonly password: string;
  readonly imap: MailServer;
  readonly smtp: MailServer;
  /** A certificate authority to trust besides the usual ones, as PEM. */
  readonly tls?: { readonly ca?: string };
  /** Milliseconds since 1970. */
  now?(): number;
};

/** How a connection is protected. A password crosses a network only under TLS; a server on this machine may go without. */
export type Protection = { readonly secure: boolean; readonly upgrade: "required" | "none" };

/** What protects the connection to a server: TLS at once, an upgrade that must succeed, or nothing on this machine. */
export function protectionOf(server: MailServer, tls: ImapOptions["tls"]): Protection {
  if (server.secure) return { secure: true, upgrade: "none" };
  const isOpen = isLoopback(server.host) && tls?.ca === undefined;
  return { secure: false, upgrade: isOpen ? "none" : "required" };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** TLS settings of both protocols. Naming an authority takes the usual ones away, so they are named as well. */
export function tlsOf(options: ImapOptions): { ca?: string[] } {
  return options.tls?.ca === undefined ? {} : { ca: [...getCACertificates("default"), options.tls.ca] };
}
