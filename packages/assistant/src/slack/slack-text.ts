// Slack's markup as a person reads it, and what marks its messages.

import { recordIn, textIn } from "../service-tools/service-requests.ts";

/** The event type under which a posted message carries the key of its call. */
export const CALL_EVENT = "retinue_call";

/** System messages (joins and leaves): no author. */
const SYSTEM: ReadonlySet<unknown> = new Set([
  ...["channel_join", "channel_leave", "group_join", "group_leave", "tombstone"],
]);

/** How ids in a text are named. */
export type Names = {
  person(id: string): string | undefined;
  channel(id: string): string | undefined;
};

/** Slack's markup as a person reads it: mentions by name, links with their real target, entities as characters. */
export function readSlackMarkup(text: string, names: Names): string {
  return text
    .split(/(<[^<>]*>)/)
    .map((part, index) => unescapeText(index % 2 === 1 ? readToken(part.slice(1, -1), names) : part))
    .join("");
}

/** Ids of the people whom texts mention. */
export function listMentioned(text: string): string[] {
  return [...text.matchAll(/<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>/g)].map(([, id = ""]) => id);
}

function readToken(token: string, names: Names): string {
  const bar = token.indexOf("|");
  const target = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? "" : token.slice(bar + 1);
  const id = target.slice(1);
  if (target.startsWith("@")) return `@${names.person(id) ?? (label || id)}`;
  if (target.startsWith("#")) return `#${label || (names.channel(id) ?? id)}`;
  if (target.startsWith("!")) return readCommand(id, label);
  return readLink(target, label);
}

/** `!here` and its like, groups, and dates, whose label is what they fall back to. */
function readCommand(command: string, label: string): string {
  if (label) return label;
  const [name = "", detail] = command.split("^");
  return `@${name === "subteam" && detail ? detail : name}`;
}

/** A label never hides where its link leads. */
function readLink(target: string, label: string): string {
  const bare = target.replace(/^(mailto:|tel:|https?:\/\/)/, "").replace(/\/$/, "");
  if (label === "" || label === target) return target.replace(/^(mailto|tel):/, "");
  if (label.replace(/\/$/, "") === bare) return /^https?:/.test(target) ? target : label;
  return `${label} (${target})`;
}

/** Slack escapes these three and no others; the ampersand comes last, so that nothing is read twice. */
function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Whether a text names a message within its channel: seconds since 1970 with six digits after the point. */
export function isSlackTs(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}\.\d{6}$/.test(text);
}

/** Whether a message of this subtype is a system message. */
export function isSystemMessage(subtype: unknown): boolean {
  return SYSTEM.has(subtype);
}

/** The key of the call that posted a message, from its metadata. */
export function readCallKey(metadata: unknown): string | undefined {
  const { event_type, event_payload } = recordIn(metadata);
  return event_type === CALL_EVENT ? textIn(recordIn(event_payload).key) : undefined;
}
