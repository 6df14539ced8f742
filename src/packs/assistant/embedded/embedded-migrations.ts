import type { Migration } from "../../../store/file/open-database.ts";

/** How the embedded store keeps mail, events, contacts and chat: the payload in its own format, columns for what is searched. */
export const EMBEDDED_MIGRATIONS: readonly Migration[] = [
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
