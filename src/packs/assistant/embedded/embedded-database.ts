import { type Database, openDatabase } from "../../../store/file/open-database.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { EMBEDDED_MIGRATIONS } from "./embedded-migrations.ts";

/** Whose mailbox, calendar and address book it is. */
export type Owner = {
  readonly name: string;
  readonly address: string;
  /** IANA name. */
  readonly zone?: string;
};

/** Where the store is kept, and what is not kept in it. */
export type EmbeddedOptions = {
  /** Path of the database file, or `:memory:`. */
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** IANA name; used where the owner has none. */
  readonly zone: string;
  /** Used as long as none is stored. */
  readonly owner?: Owner;
};

/** Two runs may fill the same store at first. */
const BUSY_MS = 5000;
const NOBODY: Owner = { name: "Me", address: "me@localhost" };

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
    this.#database ??= openDatabase(this.#options.file, EMBEDDED_MIGRATIONS, { busyTimeoutMs: BUSY_MS });
    return this.#database.db;
  }

  /** What a person must be told about opening the file. */
  get notices(): readonly string[] {
    return this.#database?.notices ?? [];
  }

  /** The stored owner, else the one that was given. */
  owner(): Owner & { readonly zone: string } {
    const row = this.db.prepare("SELECT name, address, zone FROM owner").get();
    const owner = row
      ? {
          name: String(row.name),
          address: String(row.address),
          zone: row.zone === null ? "" : String(row.zone),
        }
      : (this.#options.owner ?? NOBODY);
    return { name: owner.name, address: owner.address, zone: owner.zone || this.#options.zone };
  }

  /** Stores the owner if none is stored, so that no imported folder can take the store over. Says whether it did. */
  adoptOwner(owner: Owner): boolean {
    const { changes } = this.db
      .prepare("INSERT OR IGNORE INTO owner (only, name, address, zone) VALUES (1, ?, ?, ?)")
      .run(cleanText(owner.name), owner.address.toLowerCase(), owner.zone ?? null);
    return Number(changes) > 0;
  }

  /** Does some work wholly or not at all. */
  within<T>(work: (db: Database["db"]) => T): T {
    const { db } = this;
    if (db.isTransaction) return work(db);
    db.exec("BEGIN IMMEDIATE");
    try {
      const done = work(db);
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

/** A text that a column can hold: no NUL, at which SQLite would end it, and no half of a surrogate pair. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{FFFD}");
}

/** A number is bound as a floating point value, by which FTS5 does not find a row. */
export function rowid(id: unknown): bigint {
  return BigInt(Number(id));
}
