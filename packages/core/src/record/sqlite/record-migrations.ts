import type { Migration } from "./open-database.ts";

const FIRST = `
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  project TEXT NOT NULL DEFAULT '',
  workspace TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  metadata_json TEXT
);
CREATE INDEX idx_sessions_updated ON sessions(updated_at);

CREATE TABLE prompts (
  prompt_id TEXT PRIMARY KEY,
  content TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  parent_message_id INTEGER,
  started_at TEXT NOT NULL,
  completed_at TEXT,
  duration_ms INTEGER,
  agent_role TEXT,
  agent_depth INTEGER DEFAULT 0,
  model_id TEXT,
  system_prompt_id TEXT,
  request_type TEXT,
  request_content TEXT,
  context_mode TEXT,
  context_token_count INTEGER,
  response_content TEXT,
  response_summary TEXT,
  tool_calls_json TEXT,
  files_modified_json TEXT,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  total_tokens INTEGER,
  iteration_count INTEGER DEFAULT 0,
  max_iterations INTEGER,
  max_duration_ms INTEGER,
  bailout_reason TEXT,
  status TEXT DEFAULT 'pending',
  error_message TEXT,
  metadata_json TEXT,
  run_id TEXT NOT NULL DEFAULT '',
  call_id TEXT,
  opened_seq INTEGER NOT NULL DEFAULT 0,
  closed_seq INTEGER,
  cost_usd REAL,
  replay TEXT,
  FOREIGN KEY (parent_message_id) REFERENCES messages(id),
  FOREIGN KEY (session_id) REFERENCES sessions(session_id)
);
CREATE INDEX idx_messages_session ON messages(session_id);
CREATE INDEX idx_messages_parent ON messages(parent_message_id);
CREATE INDEX idx_messages_role ON messages(agent_role);
CREATE INDEX idx_messages_depth ON messages(agent_depth);
CREATE INDEX idx_messages_started ON messages(started_at);
CREATE INDEX idx_messages_status ON messages(status);
CREATE INDEX idx_messages_run ON messages(run_id);
CREATE INDEX idx_messages_opened ON messages(session_id, opened_seq);
CREATE INDEX idx_messages_closed ON messages(session_id, closed_seq);
INSERT INTO sqlite_sequence(name, seq) VALUES ('messages', 0);
`;

const LEASES = `
CREATE TABLE leases (
  session_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) WITHOUT ROWID;
`;

const PLANS = `
CREATE TABLE plans (
  plan_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  format INTEGER NOT NULL,
  plan_json TEXT NOT NULL,
  PRIMARY KEY (plan_id, version)
) WITHOUT ROWID;
CREATE INDEX idx_plans_updated ON plans(updated_at);
`;

const CHANGES = `
CREATE TABLE file_changes (
  change_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  about_run TEXT,
  message_id INTEGER,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  before_mode INTEGER,
  before_hash TEXT,
  after_mode INTEGER,
  after_hash TEXT,
  outcome_known INTEGER NOT NULL,
  note TEXT,
  opened_at TEXT NOT NULL,
  closed_seq INTEGER,
  position REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_changes_run ON file_changes(run_id);
CREATE INDEX idx_changes_about ON file_changes(about_run);
CREATE INDEX idx_changes_path ON file_changes(root, path);
CREATE INDEX idx_changes_closed ON file_changes(closed_seq);
CREATE INDEX idx_changes_position ON file_changes(position);

CREATE TABLE worktrees (
  run_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  into_path TEXT NOT NULL,
  status TEXT NOT NULL,
  base_tree TEXT,
  base_commit TEXT,
  git_dir TEXT,
  line_json TEXT NOT NULL,
  tainted INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_worktrees_status ON worktrees(status);
`;

const APPROVALS = `
CREATE TABLE approvals (
  approval_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  request_json TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  allowed INTEGER,
  answered_by TEXT,
  note TEXT,
  answered_at INTEGER,
  UNIQUE (run_id, call_id, input_hash)
) WITHOUT ROWID;
CREATE INDEX idx_approvals_open ON approvals(answered_at, requested_at);
CREATE INDEX idx_approvals_session ON approvals(session_id);
`;

const STOPS = `
CREATE TABLE stop_requests (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID;
`;

const APPROVAL_SCOPES = `
ALTER TABLE approvals ADD COLUMN scope TEXT;
`;

/** One row per run with what it used itself: adding up `messages` would count each model call twice. */
const RUN_USAGE = createRunUsage("");

const UNTRUSTED_FILES = `
CREATE TABLE untrusted_files (
  id INTEGER PRIMARY KEY,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  hash TEXT,
  size INTEGER,
  since_ms INTEGER,
  until_ms INTEGER,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  noted_at TEXT NOT NULL,
  UNIQUE (root, path, hash)
);
CREATE INDEX idx_untrusted_size ON untrusted_files(size);
CREATE INDEX idx_untrusted_hash ON untrusted_files(hash);
CREATE INDEX idx_untrusted_since ON untrusted_files(since_ms);
`;

const ORDER = `
ALTER TABLE sessions ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET changed = ranked.place FROM
  (SELECT session_id, row_number() OVER (ORDER BY updated_at, rowid) AS place FROM sessions) AS ranked
  WHERE ranked.session_id = sessions.session_id;
CREATE INDEX idx_sessions_changed ON sessions(changed);
CREATE INDEX idx_sessions_project ON sessions(project, changed);
ALTER TABLE approvals ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE approvals SET position = ranked.place FROM
  (SELECT approval_id, row_number() OVER (ORDER BY requested_at, approval_id) AS place FROM approvals) AS ranked
  WHERE ranked.approval_id = approvals.approval_id;
CREATE INDEX idx_approvals_position ON approvals(position);
`;

const MORE_ORDER = `
ALTER TABLE plans ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
UPDATE plans SET changed = ranked.place,
  project = CASE WHEN json_valid(plan_json) THEN coalesce(plan_json ->> '$.project', '') ELSE '' END FROM
  (SELECT plan_id, version, row_number() OVER (ORDER BY updated_at, plan_id, version) AS place FROM plans) AS ranked
  WHERE ranked.plan_id = plans.plan_id AND ranked.version = plans.version;
DROP INDEX idx_plans_updated;
CREATE INDEX idx_plans_changed ON plans(changed);
ALTER TABLE approvals ADD COLUMN answer_position INTEGER;
UPDATE approvals SET answer_position = ranked.place FROM
  (SELECT approval_id, row_number() OVER (ORDER BY answered_at, approval_id) AS place FROM approvals
    WHERE answered_at IS NOT NULL) AS ranked
  WHERE ranked.approval_id = approvals.approval_id;
CREATE INDEX idx_approvals_answer ON approvals(answer_position);
ALTER TABLE worktrees ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE worktrees SET position = ranked.place FROM
  (SELECT run_id, row_number() OVER (ORDER BY created_at, run_id) AS place FROM worktrees) AS ranked
  WHERE ranked.run_id = worktrees.run_id;
`;

/** Which session needs which text, so that a text goes with the last session that needs it. */
const PROMPT_USES = `
CREATE TABLE prompt_uses (
  session_id TEXT NOT NULL,
  prompt_id TEXT NOT NULL,
  PRIMARY KEY (session_id, prompt_id)
) WITHOUT ROWID;
CREATE INDEX idx_prompt_uses ON prompt_uses(prompt_id);
INSERT OR IGNORE INTO prompt_uses
  SELECT session_id, system_prompt_id FROM messages WHERE system_prompt_id IS NOT NULL;
WITH known AS (
  SELECT session_id, CASE WHEN json_valid(metadata_json) THEN metadata_json END AS metadata FROM messages
)
INSERT OR IGNORE INTO prompt_uses
  SELECT session_id, metadata ->> '$.snapshot' FROM known WHERE metadata ->> '$.snapshot' IS NOT NULL
  UNION SELECT session_id, metadata ->> '$.history' FROM known WHERE metadata ->> '$.history' IS NOT NULL;
DELETE FROM prompts WHERE prompt_id NOT IN (SELECT prompt_id FROM prompt_uses);
`;

/** Delegations are runs, and the call in which a program starts them is nobody's: neither is counted as a tool call. */
const COUNTED_CALLS = `
DROP VIEW run_usage;
${createRunUsage(`
    AND coalesce(CASE WHEN json_valid(call.metadata_json) THEN call.metadata_json ->> '$.tool' END, '')
      NOT IN ('delegate', 'delegate_many', 'delegate_to_agent', 'Task', 'program')`)}`;

/**
 * The highest number of each series whose row was deleted: processes remember numbers, so none may come twice. Until now
 * the last change of files was kept for that when its session was deleted.
 */
const LAST_NUMBERS = `
CREATE TABLE last_numbers (
  series TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID;
${keepLastNumber("file_changes", "closed_seq")}
${keepLastNumber("file_changes", "position")}
${keepLastNumber("sessions", "changed")}
${keepLastNumber("approvals", "position")}
${keepLastNumber("approvals", "answer_position")}
${keepLastNumber("worktrees", "position")}
DELETE FROM file_changes WHERE session_id NOT IN (SELECT session_id FROM sessions);
ALTER TABLE untrusted_files RENAME TO old_untrusted_files;
DROP INDEX idx_untrusted_size;
DROP INDEX idx_untrusted_hash;
DROP INDEX idx_untrusted_since;
${UNTRUSTED_FILES.replace("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY AUTOINCREMENT")}
INSERT INTO untrusted_files SELECT * FROM old_untrusted_files;
DROP TABLE old_untrusted_files;
`;

function keepLastNumber(table: string, column: string): string {
  return `CREATE TRIGGER keep_${table}_${column} AFTER DELETE ON ${table} WHEN old.${column} IS NOT NULL BEGIN
  INSERT INTO last_numbers VALUES ('${table}.${column}', ceil(old.${column}))
    ON CONFLICT (series) DO UPDATE SET last = max(last, excluded.last);
END;`;
}

function createRunUsage(less: string): string {
  return `
CREATE VIEW run_usage AS
SELECT run.run_id, run.session_id,
  CASE WHEN json_valid(run.metadata_json) THEN run.metadata_json ->> '$.parentRun' END AS parent_run_id,
  run.agent_role, run.agent_depth, run.model_id, run.status, run.started_at, run.completed_at,
  (SELECT count(*) FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL) AS model_calls,
  (SELECT count(*) FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'tool_call' AND call.completed_at IS NOT NULL${less}) AS tool_calls,
  (SELECT coalesce(sum(call.prompt_tokens), 0) FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL) AS prompt_tokens,
  (SELECT coalesce(sum(call.completion_tokens), 0) FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL) AS completion_tokens,
  (SELECT coalesce(sum(call.total_tokens), 0) FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL) AS total_tokens,
  (SELECT CASE WHEN count(*) = count(call.cost_usd) THEN total(call.cost_usd) END
    FROM messages AS call WHERE call.run_id = run.run_id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL) AS cost_usd
FROM messages AS run WHERE run.request_type IN ('prompt', 'delegation');
`;
}

/** The schema of the record, one step per released version. Steps are only ever added. */
export const RECORD_MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: FIRST },
  { version: 2, sql: LEASES },
  { version: 3, sql: PLANS },
  { version: 4, sql: CHANGES },
  { version: 5, sql: APPROVALS },
  { version: 6, sql: STOPS },
  { version: 7, sql: APPROVAL_SCOPES },
  { version: 8, sql: RUN_USAGE },
  { version: 9, sql: UNTRUSTED_FILES },
  // What came later has the higher number, whatever the clock said.
  { version: 10, sql: ORDER },
  { version: 11, sql: MORE_ORDER },
  { version: 12, sql: PROMPT_USES },
  { version: 13, sql: COUNTED_CALLS },
  { version: 14, sql: LAST_NUMBERS },
];
