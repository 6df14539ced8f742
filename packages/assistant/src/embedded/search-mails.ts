import { wallToInstant } from "@retinue/core/text/zone";
import type { MailQuery, MailSummary } from "../mail/mail-provider.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { EmbeddedDatabase, StoreOwner } from "./embedded-database.ts";
import { readMailRow } from "./mail-rows.ts";
import { buildTextConditions, type Condition, splitFolded, splitOperators } from "./search-terms.ts";

const FOLDERS = ["inbox", "sent", "drafts", "anywhere"];
const OPERATORS = ["from", "to", "subject", "after", "before", "is", "has", "in"];

/**
 * Messages that fit, newest first. The text may hold operators as Gmail has them (`from:dana is:unread`). Drafts are found
 * only with `in:drafts`, so that none is taken for something that was sent.
 */
export function searchMails(
  database: EmbeddedDatabase,
  query: MailQuery,
): { messages: MailSummary[]; total: number } {
  const conditions = buildConditions(query, database.owner());
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
  return { messages: rows.map(readMailRow), total };
}

function buildConditions(query: MailQuery, owner: StoreOwner & { readonly zone: string }): Condition[] {
  const { rest, operators } = splitOperators(query.text ?? "", OPERATORS);
  const unread = query.unread ?? readFlag(operators.get("is"), "unread", "read");
  const attached = query.hasAttachment ?? readFlag(operators.get("has"), "attachment");
  const person = (said: string | undefined) => (said?.trim().toLowerCase() === "me" ? owner.address : said);
  return [
    folderCondition(operators.get("in")),
    ...holding("sender_words", person(query.from), person(operators.get("from"))),
    ...holding("recipient_words", person(query.to), person(operators.get("to"))),
    ...holding("subject_words", query.subject, operators.get("subject")),
    ...dateCondition(">=", owner.zone, query.after, operators.get("after")),
    ...dateCondition("<", owner.zone, query.before, operators.get("before")),
    ...(unread === undefined ? [] : [{ sql: "unread = ?", values: [unread ? 1 : 0] }]),
    ...(attached === undefined ? [] : [{ sql: "has_attachment = ?", values: [attached ? 1 : 0] }]),
    ...textCondition(rest),
  ];
}

function textCondition(text: string): Condition[] {
  if (text === "") return [];
  const searched = { table: "mail_texts", columns: ["subject", "people", "body"], row: "row" };
  // Signs without any word are in no text.
  return buildTextConditions(text, searched) ?? [{ sql: "0", values: [] }];
}

function holding(column: string, ...texts: readonly (string | undefined)[]): Condition[] {
  return texts
    .flatMap((text) => splitFolded(text ?? ""))
    .map((part) => ({ sql: `instr(${column}, ?) > 0`, values: [part] }));
}

function folderCondition(folder: string | undefined): Condition {
  const wanted = folder?.toLowerCase().replace(/^draft$/, "drafts");
  if (wanted === "anywhere") return { sql: "1", values: [] };
  if (wanted !== undefined && !FOLDERS.includes(wanted))
    throw new ToolFault(
      "params",
      `The local store has no folder ${JSON.stringify(wanted.slice(0, 50))}, only ${FOLDERS.join(", ")}.`,
    );
  return wanted === undefined
    ? { sql: "folder <> 'drafts'", values: [] }
    : { sql: "folder = ?", values: [wanted] };
}

/** A bare day begins by the owner's clocks. */
function dateCondition(
  comparison: ">=" | "<",
  zone: string,
  ...texts: readonly (string | undefined)[]
): Condition[] {
  return texts
    .filter((text) => text !== undefined)
    .map((text) => {
      const [, year, month, day] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text) ?? [];
      const isDay = year !== undefined && Number(month) <= 12 && Number(day) <= 31;
      const ms = isDay
        ? wallToInstant(zone, Date.UTC(Number(year), Number(month) - 1, Number(day)))
        : Date.parse(text);
      if (Number.isNaN(ms))
        throw new ToolFault("params", `${JSON.stringify(text.slice(0, 50))} is not a date.`);
      return { sql: `date_ms ${comparison} ?`, values: [ms] };
    });
}

function readFlag(said: string | undefined, yes: string, no?: string): boolean | undefined {
  if (said === undefined) return undefined;
  if (said.toLowerCase() === yes) return true;
  if (no !== undefined && said.toLowerCase() === no) return false;
  const known = no === undefined ? yes : `${yes} and ${no}`;
  throw new ToolFault(
    "params",
    `The local store cannot search for ${JSON.stringify(said.slice(0, 50))}, only for ${known}.`,
  );
}
