import { ToolFault } from "../errors/tool-fault.ts";
import type { MailQuery, MailSummary } from "../mail/mail-provider.ts";
import type { EmbeddedDatabase } from "./embedded-database.ts";
import { summaryOf } from "./mail-rows.ts";
import { foldedParts, ftsQuery, splitOperators } from "./search-terms.ts";

type Condition = { readonly sql: string; readonly values: readonly (string | number)[] };

const OPERATORS = ["from", "to", "subject", "after", "before", "is", "has", "in"];

/**
 * Messages that fit, newest first. The text may hold operators as Gmail has them (`from:dana is:unread`). Drafts are found
 * only with `in:drafts`, so that none is taken for something that was sent.
 */
export function searchMails(
  database: EmbeddedDatabase,
  query: MailQuery,
): { messages: MailSummary[]; total: number } {
  const conditions = conditionsOf(query);
  const where = conditions.map(({ sql }) => sql).join(" AND ");
  const values = conditions.flatMap((condition) => condition.values);
  const { db } = database;
  const total = Number(db.prepare(`SELECT count(*) AS n FROM mails WHERE ${where}`).get(...values)?.n);
  const rows = db
    .prepare(
      `SELECT id, thread_id, sender, recipients, subject, date_ms, snippet, unread FROM mails
       WHERE ${where} ORDER BY date_ms DESC, id LIMIT ?`,
    )
    .all(...values, Math.max(0, Math.trunc(query.limit)));
  return { messages: rows.map(summaryOf), total };
}

function conditionsOf(query: MailQuery): Condition[] {
  const { rest, operators } = splitOperators(query.text ?? "", OPERATORS);
  const unread = query.unread ?? flagOf(operators.get("is"), "unread", "read");
  const attached = query.hasAttachment ?? flagOf(operators.get("has"), "attachment");
  return [
    folderCondition(operators.get("in")),
    ...holding("sender_words", query.from, operators.get("from")),
    ...holding("recipient_words", query.to, operators.get("to")),
    ...holding("subject_words", query.subject, operators.get("subject")),
    ...dateCondition(">=", query.after, operators.get("after")),
    ...dateCondition("<", query.before, operators.get("before")),
    ...(unread === undefined ? [] : [{ sql: "unread = ?", values: [unread ? 1 : 0] }]),
    ...(attached === undefined ? [] : [{ sql: "has_attachment = ?", values: [attached ? 1 : 0] }]),
    ...textCondition(rest),
  ];
}

function textCondition(text: string): Condition[] {
  if (text === "") return [];
  const match = ftsQuery(text);
  // Signs without any word are in no text.
  if (match === null) return [{ sql: "0", values: [] }];
  return [{ sql: "row IN (SELECT rowid FROM mail_texts WHERE mail_texts MATCH ?)", values: [match] }];
}

function holding(column: string, ...texts: readonly (string | undefined)[]): Condition[] {
  return texts
    .flatMap((text) => foldedParts(text ?? ""))
    .map((part) => ({ sql: `instr(${column}, ?) > 0`, values: [part] }));
}

function folderCondition(folder: string | undefined): Condition {
  const wanted = folder?.toLowerCase().replace(/^draft$/, "drafts");
  if (wanted === "anywhere") return { sql: "1", values: [] };
  return wanted === undefined
    ? { sql: "folder <> 'drafts'", values: [] }
    : { sql: "folder = ?", values: [wanted] };
}

function dateCondition(comparison: ">=" | "<", ...texts: readonly (string | undefined)[]): Condition[] {
  return texts
    .filter((text) => text !== undefined)
    .map((text) => {
      const ms = Date.parse(text.replaceAll("/", "-"));
      if (Number.isNaN(ms))
        throw new ToolFault("params", `${JSON.stringify(text.slice(0, 50))} is not a date.`);
      return { sql: `date_ms ${comparison} ?`, values: [ms] };
    });
}

function flagOf(said: string | undefined, yes: string, no?: string): boolean | undefined {
  if (said === undefined) return undefined;
  if (said.toLowerCase() === yes) return true;
  if (no !== undefined && said.toLowerCase() === no) return false;
  const known = no === undefined ? yes : `${yes} and ${no}`;
  throw new ToolFault(
    "params",
    `The local store cannot search for ${JSON.stringify(said.slice(0, 50))}, only for ${known}.`,
  );
}
