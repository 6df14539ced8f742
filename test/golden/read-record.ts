import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

/** One line of a golden record: where it stands, and what it says. */
export type Line = { at: string } & Record<string, unknown>;

type Row = Record<string, SQLOutputValue>;
type Texts = ReadonlyMap<SQLOutputValue | undefined, SQLOutputValue | undefined>;

/** Columns that hold a number of one database, or what the line's place says. */
/** What holds the port of a server. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = { untrusted_files: ["hash", "size"] };
const NUMBERS = new Set([
  "id",
  "session_id",
  "parent_message_id",
  "opened_seq",
  "closed_seq",
  "message_id",
  "changed",
  "position",
  "answer_position",
]);
/** Tables besides the sessions and their messages, and what their rows are sorted by. */
const TABLES: Readonly<Record<string, string>> = {
  approvals: "request_json",
  plans: "version, plan_json",
  file_changes: "path, source, closed_seq",
  worktrees: "agent, position",
  untrusted_files: "path, size, id",
  stop_requests: "id",
};

/** Reads everything that a database holds of its sessions; texts by their ids stay with the rows that name them. */
export function readRecord(
  path: string,
  { isParallel = false }: { isParallel?: boolean | undefined },
): Line[] {
  using db = new DatabaseSync(path, { readOnly: true });
  const sessions = db.prepare("SELECT * FROM sessions ORDER BY rowid").all();
  const texts = new Map(
    db
      .prepare("SELECT * FROM prompts")
      .all()
      .map((row) => [row.prompt_id, row.content]),
  );
  const lines: Line[] = [];
  for (const [index, session] of sessions.entries()) {
    const name = `session ${index + 1}`;
    lines.push({ at: name, ...describe(session) });
    const rows = db
      .prepare("SELECT * FROM messages WHERE session_id = ? ORDER BY opened_seq, id")
      .all(session.session_id ?? "");
    lines.push(...describeRows(name, rows, texts, isParallel));
  }
  for (const [table, order] of Object.entries(TABLES)) {
    const rows = db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all();
    lines.push(
      ...rows.map((row, index) => ({ at: `${table} ${index + 1}`, ...describe(row, LEFT_OUT[table]) })),
    );
  }
  return lines;
}

function describeRows(session: string, rows: readonly Row[], texts: Texts, isParallel: boolean): Line[] {
  const lines: Line[] = [];
  const visit = (parent: SQLOutputValue, path: string) => {
    const children = rows.filter((row) => (row.parent_message_id ?? null) === parent);
    const sorted = isParallel ? [...children].sort(compareTasks) : children;
    const seen = new Map<string, number>();
    for (const row of sorted) {
      const label = labelOf(row);
      const count = (seen.get(label) ?? 0) + 1;
      seen.set(label, count);
      const at = `${path} > ${label}${count > 1 ? ` (${count})` : ""}`;
      lines.push({
        at,
        ...describe(row),
        ...describeTexts(row, texts),
        order: orderOf(row, rows, isParallel),
      });
      visit(row.id ?? null, at);
    }
  };
  visit(null, session);
  return lines;
}

function labelOf(row: Row): string {
  const { tool } = parse(row.metadata_json) as { tool?: unknown };
  if (row.request_type === "continuation") return "turn";
  return row.request_type === "tool_call" ? `call of ${tool}` : `run of ${row.agent_role}`;
}

/** Runs and calls that go on at once begin in any order; everything else keeps its own. */
function compareTasks(one: Row, other: Row): number {
  const keys = [one, other].map((row) => {
    if (row.request_type === "tool_call") return String(row.call_id);
    if (row.request_type === "continuation") return "";
    const { taskId = "", attempt = 0 } = parse(row.metadata_json) as { taskId?: string; attempt?: number };
    return [row.agent_role, taskId, row.request_content, attempt].join(" ");
  });
  const [first = "", second = ""] = keys;
  return first < second ? -1 : first > second ? 1 : 0;
}

/** When a row was opened and closed: in its session, or among the turns of its run if runs and calls go on at once. */
function orderOf(row: Row, rows: readonly Row[], isParallel: boolean): (number | null)[] | undefined {
  const readSeqs = ({ opened_seq, closed_seq }: Row) =>
    [opened_seq, closed_seq].map((seq) => (seq === null || seq === undefined ? null : Number(seq)));
  if (!isParallel) return readSeqs(row);
  if (row.request_type === "tool_call") return undefined;
  const mates = rows.filter(
    ({ run_id, request_type }) => run_id === row.run_id && request_type !== "tool_call",
  );
  const all = mates.flatMap(readSeqs).filter((seq) => seq !== null);
  all.sort((one, other) => one - other);
  return readSeqs(row).map((seq) => (seq === null ? null : all.indexOf(seq) + 1));
}

function describe(row: Row, leftOut: readonly string[] = []): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (value === null || NUMBERS.has(column) || leftOut.includes(column) || column === "system_prompt_id")
      continue;
    // Whether others may read a file is the umask's word.
    if (column.endsWith("_mode")) line[column] = (Number(value) & ~0o077).toString(8);
    else if (column.endsWith("_json")) line[column.replace(/_json$/, "")] = parse(value);
    else line[column] = value;
  }
  return line;
}

/** A system prompt, a frozen definition or a condensed history stands in place of its id. */
function describeTexts(row: Row, texts: Texts): Record<string, unknown> {
  const metadata = parse(row.metadata_json);
  const kept = (id: SQLOutputValue | undefined) => ({ text: String(texts.get(id) ?? "missing") });
  for (const key of ["snapshot", "history"]) {
    const id = metadata[key];
    if (typeof id === "string") metadata[key] = kept(id);
  }
  return {
    ...(row.system_prompt_id !== null && { system_prompt: kept(row.system_prompt_id) }),
    ...(row.metadata_json !== null && { metadata }),
  };
}

function parse(json: SQLOutputValue | undefined): Record<string, unknown> {
  return typeof json === "string" ? JSON.parse(json) : {};
}
