/** One person or list of the address book. */
export type Contact = {
  readonly id: string;
  readonly name: string;
  /** The preferred one first. */
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly organization?: string;
  readonly title?: string;
  readonly notes?: string;
  /** Set for a list such as "team": the addresses of its members. */
  readonly members?: readonly string[];
};

/** What to look for; all given fields must match. */
export type ContactQuery = {
  /** Anywhere in the contact. */
  readonly text?: string;
  readonly name?: string;
  readonly organization?: string;
  readonly email?: string;
  readonly limit: number;
};

/** An address book. Every method raises `ToolFault` and nothing else; none repeats a request by itself. */
export type ContactsProvider = {
  readonly kind: "embedded" | "google" | "carddav";
  search(
    query: ContactQuery,
    signal: AbortSignal,
  ): Promise<{ readonly contacts: readonly Contact[]; readonly total: number }>;
  get(id: string, signal: AbortSignal): Promise<Contact>;
  organizations(
    signal: AbortSignal,
  ): Promise<readonly { readonly name: string; readonly contacts: number }[]>;
  refresh?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void> | void;
};
