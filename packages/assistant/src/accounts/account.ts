/** What an account can serve; each is one domain of the assistant. */
export const SERVICES = ["mail", "calendar", "contacts", "slack"] as const;

/** Name of one domain of the assistant. */
export type Service = (typeof SERVICES)[number];

/** Where accounts can be, and what each kind can serve. */
export const SERVICES_OF = {
  google: ["mail", "calendar", "contacts"],
  slack: ["slack"],
  imap: ["mail"],
  caldav: ["calendar", "contacts"],
} as const satisfies Readonly<Record<string, readonly Service[]>>;

/** Kind of a place where accounts can be. */
export type AccountKind = keyof typeof SERVICES_OF;

/** A server as mail programs name it; `secure`: TLS from the first byte. */
export type MailServer = { readonly host: string; readonly port: number; readonly secure: boolean };

type Common = {
  readonly id: string;
  readonly address: string;
  readonly services: readonly Service[];
  /** ISO 8601 in UTC. */
  readonly addedAt: string;
  /** Where its secrets are. */
  readonly tokens: "keyring" | "file";
};

/** An account of Google. */
export type GoogleAccount = Common & {
  readonly kind: "google";
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Other places than Google's own. */
  readonly tokenUrl?: string;
  readonly rootUrl?: string;
};

/** A workspace of Slack; its address is `user@team`. */
export type SlackAccount = Common & {
  readonly kind: "slack";
  readonly team: string;
  readonly scopes: readonly string[];
  /** Another place than Slack's own. */
  readonly apiUrl?: string;
};

/** A mailbox reached by IMAP and SMTP. */
export type ImapAccount = Common & {
  readonly kind: "imap";
  readonly user: string;
  readonly name?: string;
  readonly imap: MailServer;
  readonly smtp: MailServer;
  /** PEM file of an authority that is trusted besides the usual ones. */
  readonly caFile?: string;
};

/** Calendars and address books reached by CalDAV and CardDAV. */
export type CaldavAccount = Common & { readonly kind: "caldav"; readonly user: string; readonly url: string };

/** An account as it is kept; secrets are elsewhere. */
export type Account = GoogleAccount | SlackAccount | ImapAccount | CaldavAccount;

/** Secrets of one account, by name: `refreshToken`, `accessToken`, `clientSecret`, `token`, `password` and the like. */
export type Secrets = Readonly<Record<string, string>>;
