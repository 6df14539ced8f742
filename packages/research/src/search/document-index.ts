import { randomBytes } from "node:crypto";
import { type Database, type Migration, openDatabase } from "@retinue/core/record/sqlite/open-database";
import { isStopWord } from "@retinue/core/text/terms";

/** A folder whose documents are indexed. */
export type IndexedFolder = {
  id: number;
  root: string;
  /** Names the folder in addresses; nobody can guess it, and it never changes. */
  key: string;
};

/** What is known of a document without its text. */
export type KnownDocument = { id: number; path: string; stamp: string; hash: string };

/** A document as it goes into the index. */
export type NewDocument = { path: string; stamp: string; hash: string; title: string; text: string };

/** A document that fits a query, and the query by which it was found. */
type Match = { id: number; folderId: number; path: string; title: string; query: string };

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE folders (id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, key TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        folder_id INTEGER NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        stamp TEXT NOT NULL,
        hash TEXT NOT NULL,
        title TEXT NOT NULL,
        UNIQUE (folder_id, path)
      ) STRICT;
      CREATE VIRTUAL TABLE texts USING fts5 (
        title, body, tokenize = "porter unicode61 remove_diacritics 2", prefix = '3'
      );
      CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN DELETE FROM texts WHERE rowid = old.id; END;
    `,
  },
];

const TITLE_WEIGHT = 6;
const SNIPPET_TOKENS = 40;

/** Documents by what is written in them, in a database file of its own. Addresses and texts survive the process. */
export class DocumentIndex {
  readonly #database: Database;

  constructor(path: string) {
    this.#database = openDatabase(path, MIGRATIONS);
  }

  /** The entry of a folder, made if there is none. */
  folder(root: string): IndexedFolder {
    const { db } = this.#database;
    const select = db.prepare("SELECT id, root, key FROM folders WHERE root = ?");
    const known = select.get(root);
    if (!known) db.prepare("INSERT OR IGNORE INTO folders (root, key) VALUES (?, ?)").run(root, createKey());
    return (known ?? select.get(root)) as IndexedFolder;
  }

  folders(): IndexedFolder[] {
    return this.#database.db.prepare("SELECT id, root, key FROM folders").all() as IndexedFolder[];
  }

  /** Forgets a folder and its documents. */
  forget(folderId: number): void {
    this.#within((db) => {
      db.prepare("DELETE FROM documents WHERE folder_id = ?").run(folderId);
      db.prepare("DELETE FROM folders WHERE id = ?").run(folderId);
    });
  }

  /** What is known of a folder's documents, by path. */
  known(folderId: number): Map<string, KnownDocument> {
    const rows = this.#database.db
      .prepare("SELECT id, path, stamp, hash FROM documents WHERE folder_id = ?")
      .all(folderId) as KnownDocument[];
    return new Map(rows.map((row) => [row.path, row]));
  }

  /** The folder and path behind the two parts of an address, if that document is in the index. */
  find(key: string, path: string): { root: string; path: string } | undefined {
    return this.#database.db
      .prepare(
        "SELECT f.root, d.path FROM folders f JOIN documents d ON d.folder_id = f.id WHERE f.key = ? AND d.path = ?",
      )
      .get(key, path) as { root: string; path: string } | undefined;
  }

  /** Writes documents in one transaction, over those of the same path. */
  write(folderId: number, documents: readonly NewDocument[]): void {
    this.#within((db) => {
      const upsert = db.prepare(
        `INSERT INTO documents (folder_id, path, stamp, hash, title) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (folder_id, path) DO UPDATE SET stamp = excluded.stamp, hash = excluded.hash, title = excluded.title
         RETURNING id`,
      );
      const clear = db.prepare("DELETE FROM texts WHERE rowid = ?");
      const insert = db.prepare("INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)");
      for (const { path, stamp, hash, title, text } of documents) {
        const id = Number(upsert.get(folderId, path, stamp, hash, title)?.id);
        clear.run(rowid(id));
        insert.run(rowid(id), title, text);
      }
    });
  }

  /** Notes that files were looked at again and hold what they held. */
  touch(documents: readonly Pick<KnownDocument, "id" | "stamp">[]): void {
    this.#within((db) => {
      const update = db.prepare("UPDATE documents SET stamp = ? WHERE id = ?");
      for (const { id, stamp } of documents) update.run(stamp, id);
    });
  }

  remove(ids: readonly number[]): void {
    this.#within((db) => {
      const remove = db.prepare("DELETE FROM documents WHERE id = ?");
      for (const id of ids) remove.run(id);
    });
  }

  /** Documents of these folders that fit, best first: those with every term before those with some of them. */
  *search(text: string, folderIds: readonly number[], most: number): Generator<Match> {
    const seen = new Set<number>();
    const marks = folderIds.map(() => "?").join(", ");
    const select = this.#database.db.prepare(
      `SELECT d.id, d.folder_id AS folderId, d.path, d.title FROM texts JOIN documents d ON d.id = texts.rowid
       WHERE texts MATCH ? AND d.folder_id IN (${marks})
       ORDER BY bm25(texts, ${TITLE_WEIGHT}, 1), d.path LIMIT ?`,
    );
    const queries = buildFtsQueries(text);
    for (const [at, query] of queries.entries()) {
      // Words that only begin alike are for when nothing else is found.
      if (at === 2 && seen.size > 0) return;
      for (const row of select.all(query, ...folderIds, most) as Omit<Match, "query">[]) {
        if (seen.has(row.id)) continue;
        seen.add(row.id);
        yield { ...row, query };
        if (seen.size >= most) return;
      }
    }
  }

  /** The words around those that a match was found by. */
  snippet({ id, query }: Match): string {
    const row = this.#database.db
      .prepare(
        `SELECT snippet(texts, 1, '', '', ' … ', ${SNIPPET_TOKENS}) AS snippet FROM texts WHERE texts MATCH ? AND rowid = ?`,
      )
      .get(query, rowid(id));
    return String(row?.snippet ?? "")
      .replaceAll(/\s+/g, " ")
      .trim();
  }

  close(): void {
    this.#database.close();
  }

  #within(work: (db: Database["db"]) => void): void {
    const { db } = this.#database;
    db.exec("BEGIN IMMEDIATE");
    try {
      work(db);
      db.exec("COMMIT");
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  }
}

/** A number is bound as a floating point value, by which FTS5 does not find a row. */
function rowid(id: number): bigint {
  return BigInt(id);
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

function createKey(): string {
  return [...randomBytes(16)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

const MOST_TERMS = 32;
const MAX_TERM_CHARS = 64;

/**
 * Queries for FTS5, from the strictest to the most lenient: all terms, any term, words that begin like a term. Every
 * term is quoted, so nothing of what a model writes is ever read as syntax. Empty if there is no word in the text.
 */
export function buildFtsQueries(text: string): string[] {
  const terms = readTerms(text);
  if (terms.length === 0) return [];
  const telling = terms.filter((term) => !isStopWord(term.toLowerCase()));
  const chosen = telling.length > 0 ? telling : terms;
  const prefixes = chosen.flatMap(readWords).filter((word) => word.length > 1);
  const queries = [
    chosen.map(quoteTerm).join(" AND "),
    chosen.map(quoteTerm).join(" OR "),
    prefixes.map((word) => `${quoteTerm(cutEnding(word))}*`).join(" OR "),
  ];
  return [...new Set(queries)].filter(Boolean);
}

/** Words, and what is in quotation marks as one term. */
function readTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const [, phrase, rest] of text.normalize("NFC").matchAll(/["“”]([^"“”]*)["“”]|([^"“”]+)/g)) {
    const words = readWords(phrase ?? rest ?? "");
    for (const term of phrase === undefined ? words : [words.join(" ")]) if (term) terms.add(term);
  }
  return [...terms].slice(0, MOST_TERMS);
}

/** Runs of what FTS5's tokenizer takes as parts of words. */
function readWords(text: string): string[] {
  return (text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []).map((word) =>
    [...word].slice(0, MAX_TERM_CHARS).join(""),
  );
}

/** A long word without its ending, so that its other forms and neighbours are found, too. */
function cutEnding(word: string): string {
  const letters = [...word];
  return letters.length > 6 ? letters.slice(0, Math.ceil(letters.length * 0.7)).join("") : word;
}

function quoteTerm(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
