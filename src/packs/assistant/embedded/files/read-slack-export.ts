import type { SlackUser } from "../../slack/slack-provider.ts";
import { type StoredChannel, type StoredMessage, TS } from "../slack-rows.ts";

/** An object of JSON of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

const ID = /^[A-Z][A-Z0-9]{1,30}$/;
/** One longer: a conversation that began here is named after the other person's id. */
const CHANNEL_ID = /^[A-Z][A-Z0-9]{1,31}$/;
const CHANNEL_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}$/u;
const MAX_TEXT_CHARS = 100_000;
const MAX_REACTIONS = 100;
/** Comings and goings say nothing. */
const SILENT = new Set(["channel_join", "channel_leave", "group_join", "group_leave", "tombstone"]);

/** The event type under which a posted message carries the key of its call. */
export const CALL_EVENT = "retinue_call";

/** The objects of a JSON list; an error says what it is instead. */
export function objectsIn(json: string): Fields[] {
  const parsed: unknown = JSON.parse(json);
  if (!Array.isArray(parsed)) throw new TypeError("it is not a list");
  return parsed.filter(isFields);
}

/** A user of `users.json`; null if it has no id or name. */
export function userIn(fields: Fields): SlackUser | null {
  const id = text(fields.id);
  const profile = isFields(fields.profile) ? fields.profile : {};
  const name = text(fields.name) ?? text(profile.display_name);
  if (id === undefined || !ID.test(id) || name === undefined) return null;
  const optional = {
    title: text(profile.title),
    email: text(profile.email),
    zone: text(fields.tz),
    status: text(profile.status_text),
  };
  return {
    id,
    name: name.slice(0, 80),
    realName: text(profile.real_name) ?? text(fields.real_name) ?? name,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    isBot: fields.is_bot === true,
  };
}

/** A channel of `channels.json`, `groups.json` or `dms.json`; null if its id or name cannot be one, as with `../x`. */
export function channelIn(
  fields: Fields,
  kind: StoredChannel["kind"],
  directName: (members: readonly string[]) => string | undefined,
): StoredChannel | null {
  const id = text(fields.id);
  if (id === undefined || !CHANNEL_ID.test(id)) return null;
  const members = (Array.isArray(fields.members) ? fields.members : []).filter(
    (member): member is string => typeof member === "string" && ID.test(member),
  );
  const isShared = fields.is_ext_shared === true || fields.is_shared === true;
  const name = kind === "direct" ? directName(members) : text(fields.name);
  if (name === undefined || (kind !== "direct" && !CHANNEL_NAME.test(name))) return null;
  const isPrivate = fields.is_private === true && kind === "public";
  return { id, kind: isPrivate ? "private" : kind, name, isShared, members };
}

/** A message of a day's file; null for what is none. */
export function messageIn(fields: Fields, channelId: string): StoredMessage | null {
  const ts = text(fields.ts);
  if (fields.type !== "message" || ts === undefined || !TS.test(ts)) return null;
  if (SILENT.has(text(fields.subtype) ?? "")) return null;
  const threadTs = text(fields.thread_ts);
  const userName = text(fields.username);
  const callKey = callKeyIn(fields.metadata);
  return {
    channelId,
    ts,
    ...(threadTs !== undefined && TS.test(threadTs) ? { threadTs } : {}),
    userId: text(fields.user) ?? text(fields.bot_id) ?? "unknown",
    ...(userName === undefined ? {} : { userName }),
    text: (typeof fields.text === "string" ? fields.text : "").slice(0, MAX_TEXT_CHARS).toWellFormed(),
    reactions: reactionsIn(fields.reactions),
    ...(callKey === undefined ? {} : { callKey }),
  };
}

function callKeyIn(metadata: unknown): string | undefined {
  if (!isFields(metadata) || metadata.event_type !== CALL_EVENT || !isFields(metadata.event_payload))
    return undefined;
  return text(metadata.event_payload.key);
}

function reactionsIn(value: unknown): StoredMessage["reactions"] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isFields)
    .slice(0, MAX_REACTIONS)
    .flatMap(({ name, count }) => {
      const shown = text(name);
      return shown === undefined
        ? []
        : [{ name: shown, count: Number.isSafeInteger(count) ? Number(count) : 1 }];
    });
}

/** A text that says something, well formed and short enough to be shown. */
function text(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return (
    value
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, 500) || undefined
  );
}

/** Whether this is an object of JSON. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
