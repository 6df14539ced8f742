import { join } from "node:path";
import { type Migration, openDatabase } from "@retinue/core/record/sqlite/open-database";
import { RetinueError } from "@retinue/core/schema/error";
import { findDomain } from "./canonical-url.ts";

/** A domain that crawls leave out. */
export type BlacklistEntry = {
  domain: string;
  /** `crawl`: it had too many pages that are not there; `person`: somebody put it on the list. */
  by: "crawl" | "person";
  failures: number;
  /** ISO 8601, UTC. */
  since: string;
};

/** Pages that are not there before a domain goes on the list. */
const FAILURES_TO_LIST = 3;

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `CREATE TABLE domains (
      domain TEXT PRIMARY KEY,
      failures INTEGER NOT NULL DEFAULT 0,
      listed_by TEXT CHECK (listed_by IN ('crawl', 'person')),
      since TEXT
    ) WITHOUT ROWID`,
  },
];
const SELECT = `SELECT domain, failures, listed_by AS "by", since FROM domains WHERE listed_by IS NOT NULL`;

/** Domains that crawls leave out, in every session. */
export type Blacklist = ReturnType<typeof openBlacklist>;

/** Opens the list of the data folder; `:memory:` for one that is forgotten. */
export function openBlacklist(dataDir: string, now: () => number = Date.now) {
  const path = dataDir === ":memory:" ? dataDir : join(dataDir, "blacklist.db");
  const { db, notices, close } = openDatabase(path, MIGRATIONS);
  const find = (domain: string) =>
    db.prepare(`${SELECT} AND domain = ?`).get(domain) as BlacklistEntry | undefined;
  const list = () => db.prepare(`${SELECT} ORDER BY domain`).all() as BlacklistEntry[];
  const time = () => new Date(now()).toISOString();
  return {
    notices,
    close,
    list,
    /** The entry that speaks of this address; a person's also speaks of subdomains. */
    match(url: string): BlacklistEntry | undefined {
      const domain = findDomain(url);
      if (domain === undefined) return undefined;
      const above = listParents(domain).map(find);
      return find(domain) ?? above.find((entry) => entry?.by === "person");
    },
    /** Counts a page that is not there; the entry if its domain is on the list because of it. */
    noteMissing(url: string): BlacklistEntry | undefined {
      const domain = findDomain(url);
      if (domain === undefined) return undefined;
      db.prepare(
        `INSERT INTO domains (domain, failures) VALUES (?, 1) ON CONFLICT DO UPDATE SET failures = failures + 1`,
      ).run(domain);
      const listed = db
        .prepare(
          `UPDATE domains SET listed_by = 'crawl', since = ? WHERE domain = ? AND listed_by IS NULL AND failures >= ?`,
        )
        .run(time(), domain, FAILURES_TO_LIST);
      return listed.changes > 0 ? find(domain) : undefined;
    },
    /** Puts a domain on the list in a person's name. */
    add(text: string): BlacklistEntry {
      const domain = parseDomain(text);
      db.prepare(
        `INSERT INTO domains (domain, listed_by, since) VALUES (?, 'person', ?)
         ON CONFLICT DO UPDATE SET listed_by = 'person', since = excluded.since`,
      ).run(domain, time());
      return find(domain) as BlacklistEntry;
    },
    /** Also forgets what was counted; false if there was nothing. */
    remove: (text: string): boolean =>
      db.prepare("DELETE FROM domains WHERE domain = ?").run(parseDomain(text)).changes > 0,
    /** Takes everything off the list; says how many entries there were. */
    clear(): number {
      const { length } = list();
      db.exec("DELETE FROM domains");
      return length;
    },
  };
}

/** `b.org` and `org` of `a.b.org`; the port goes along. */
function listParents(domain: string): string[] {
  const labels = domain.split(".");
  return /^[[\d.:\]]+$/.test(domain) ? [] : labels.slice(1).map((_, at) => labels.slice(at + 1).join("."));
}

/** A domain as a person writes it, or copies it from an address. */
function parseDomain(text: string): string {
  const domain = findDomain(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (domain !== undefined) return domain;
  throw new RetinueError(
    "usage",
    `'${text}' is not a domain`,
    "Write it as example.org or example.org:8080.",
  );
}
