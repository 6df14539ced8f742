// The database of the local store: its tables, its owner, and how text and numbers are bound.

import type { SQLInputValue } from "node:sqlite";
import { type Database, type Migration, openDatabase } from "@retinue/core/record/sqlite/open-database";
import { ToolFault } from "../service-tools/tool-fault.ts";

/** Whose mailbox, calendar and address book it is. */
export type StoreOwner = {
  readonly name: string;
  readonly address: string;
  /** IANA name. */
  readonly zone?: string;
};

/** Where the store is, and what it needs from outside. */
export type EmbeddedOptions = {
  /** Path of the database file, or `:memory:`. */
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** IANA name; used where the owner has none. */
  readonly zone: string;
  /** Used as long as none is stored. */
  readonly owner?: StoreOwner;
};

/** A row by its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** Two runs may fill the same store at first. */
const BUSY_MS = 5000;
const NOBODY: StoreOwner = { name: "Me", address: "me@localhost" };
/** How the embedded store keeps mail, events, contacts and chat: the payload in its own format, columns for what is searched. */
const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE owner (
        only INTEGER PRIMARY KEY CHECK (only = 1), name TEXT NOT NULL, address TEXT NOT NULL, zone TEXT
      ) STRICT;

      CREATE TABLE mails (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        folder TEXT NOT NULL CHECK (folder IN ('inbox', 'sent', 'drafts')),
        message_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        date_ms INTEGER NOT NULL,
        sender TEXT NOT NULL,
        recipients TEXT NOT NULL,
        sender_words TEXT NOT NULL,
        recipient_words TEXT NOT NULL,
        subject TEXT NOT NULL,
        subject_words TEXT NOT NULL,
        snippet TEXT NOT NULL,
        unread INTEGER NOT NULL,
        has_attachment INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (folder, message_id)
      ) STRICT;
      CREATE INDEX mails_by_date ON mails (date_ms);
      CREATE INDEX mails_by_message_id ON mails (message_id);
      CREATE INDEX mails_by_thread ON mails (thread_id);
      CREATE VIRTUAL TABLE mail_texts USING fts5 (
        subject, people, body, tokenize = "porter unicode61 remove_diacritics 2", prefix = '3'
      );
      CREATE TRIGGER mails_gone AFTER DELETE ON mails BEGIN DELETE FROM mail_texts WHERE rowid = old.row; END;
      CREATE TABLE thread_ids (message_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX thread_ids_by_thread ON thread_ids (thread_id);
      CREATE TABLE bounces (
        message_id TEXT NOT NULL, address TEXT NOT NULL, status TEXT NOT NULL, detail TEXT NOT NULL,
        PRIMARY KEY (message_id, address)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE events (
        calendar TEXT NOT NULL,
        uid TEXT NOT NULL,
        first_ms INTEGER NOT NULL,
        last_ms INTEGER,
        ics TEXT NOT NULL,
        etag TEXT NOT NULL,
        PRIMARY KEY (calendar, uid)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX events_by_time ON events (calendar, first_ms);

      CREATE TABLE contacts (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, contact TEXT NOT NULL, vcard TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE slack_users (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, profile TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE slack_channels (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('public', 'private', 'direct')),
        name TEXT NOT NULL UNIQUE,
        is_shared INTEGER NOT NULL,
        members TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE slack_messages (
        row INTEGER PRIMARY KEY,
        channel_id TEXT NOT NULL REFERENCES slack_channels (id),
        ts TEXT NOT NULL,
        at REAL NOT NULL,
        thread_ts TEXT,
        user_id TEXT NOT NULL,
        user_name TEXT,
        text TEXT NOT NULL,
        reactions TEXT NOT NULL,
        call_key TEXT,
        UNIQUE (channel_id, ts)
      ) STRICT;
      CREATE INDEX slack_messages_by_time ON slack_messages (channel_id, at);
      CREATE INDEX slack_messages_by_thread ON slack_messages (channel_id, thread_ts);
      CREATE UNIQUE INDEX slack_messages_by_call ON slack_messages (channel_id, call_key) WHERE call_key IS NOT NULL;
      CREATE VIRTUAL TABLE slack_texts USING fts5 (
        body, tokenize = "porter unicode61 remove_diacritics 2", prefix = '3'
      );
      CREATE TRIGGER slack_messages_gone AFTER DELETE ON slack_messages
      BEGIN DELETE FROM slack_texts WHERE rowid = old.row; END;
    `,
  },
];

/** The database of the embedded store, opened at its first use. */
export class EmbeddedDatabase {
  readonly now: () => number;
  readonly #options: EmbeddedOptions;
  #database: Database | undefined;
  #closed = false;

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.now = options.now;
  }

  get db(): Database["db"] {
    if (this.#closed) throw new ToolFault("tool_error", "The local store is closed.");
    this.#database ??= openDatabase(this.#options.file, MIGRATIONS, { busyTimeoutMs: BUSY_MS });
    return this.#database.db;
  }

  /** The first row of a query. */
  get(sql: string, values: readonly SQLInputValue[] = []): Row | undefined {
    return this.db.prepare(sql).get(...values.map(cleanText));
  }

  /** All rows of a query. */
  all(sql: string, values: readonly SQLInputValue[] = []): Row[] {
    return this.db.prepare(sql).all(...values.map(cleanText));
  }

  /** Changes rows; returns whether there were any to change. */
  run(sql: string, values: readonly SQLInputValue[]): boolean {
    return Number(this.db.prepare(sql).run(...values.map(cleanText)).changes) > 0;
  }

  /** Adds a row unless there is one with its key; returns its number, as a full-text table takes it, or null. */
  insert(table: string, row: Readonly<Record<string, SQLInputValue>>): bigint | null {
    const columns = Object.keys(row);
    const places = columns.map(() => "?").join(", ");
    const { changes, lastInsertRowid } = this.db
      .prepare(`INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${places})`)
      .run(...Object.values(row).map(cleanText));
    return Number(changes) > 0 ? BigInt(lastInsertRowid) : null;
  }

  /** Notices for the person about opening the file. */
  get notices(): readonly string[] {
    return this.#database?.notices ?? [];
  }

  /** The stored owner, else the one that was given. */
  owner(): StoreOwner & { readonly zone: string } {
    const row = this.get("SELECT name, address, zone FROM owner");
    const { name, address, zone } = row ?? this.#options.owner ?? NOBODY;
    return { name: String(name), address: String(address), zone: String(zone || this.#options.zone) };
  }

  /** Stores the owner if none is stored, so that no imported folder can take the store over. Returns whether it did. */
  adoptOwner(owner: StoreOwner): boolean {
    const { name, address, zone = null } = owner;
    const row = { only: 1, name, address: address.toLowerCase(), zone };
    return this.insert("owner", row) !== null;
  }

  /** Whether nothing was ever imported or written. */
  isEmpty(): boolean {
    const tables = ["owner", "mails", "events", "contacts", "slack_users", "slack_channels"];
    return tables.every((table) => this.get(`SELECT 1 FROM ${table} LIMIT 1`) === undefined);
  }

  /** Does some work in one transaction. */
  within<T>(work: () => T): T {
    const { db } = this;
    if (db.isTransaction) return work();
    db.exec("BEGIN IMMEDIATE");
    try {
      const done = work();
      db.exec("COMMIT");
      return done;
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  }

  close(): void {
    this.#closed = true;
    this.#database?.close();
    this.#database = undefined;
  }
}

/** A text as a column can hold it: no NUL, at which SQLite would end it, and no half of a surrogate pair. */
function cleanText(value: SQLInputValue): SQLInputValue {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\u{FFFD}") : value;
}

/** JSON that this store wrote itself. */
export function parseStored<T>(column: unknown): T {
  return JSON.parse(String(column)) as T;
}
