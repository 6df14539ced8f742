// A calendar: its events, and the interface of what serves it.

import type { ServiceProvider } from "../service-tools/tool-fault.ts";

/** A moment of an event: an instant with the zone it was meant in, or a whole day. */
export type EventTime =
  | {
      readonly kind: "instant" /** ISO 8601 in UTC. */;
      readonly at: string /** IANA name. */;
      readonly zone: string;
    }
  | { readonly kind: "day" /** `2026-11-17`. */; readonly day: string };

/** Somebody who is asked to come. */
export type Attendee = {
  readonly address: string;
  readonly name?: string;
  readonly response: "accepted" | "declined" | "tentative" | "needs_action";
};

/** One event, or one occurrence of a recurring one. */
export type CalendarEvent = {
  /** Of an occurrence: its own id, by which only it is changed or removed. */
  readonly id: string;
  /** The series it belongs to. */
  readonly seriesId?: string;
  readonly title: string;
  readonly start: EventTime;
  /** Exclusive. */
  readonly end: EventTime;
  readonly location?: string;
  readonly description?: string;
  readonly organizer?: { readonly address: string; readonly self: boolean };
  readonly attendees: readonly Attendee[];
  /** RRULE without its name, such as `FREQ=WEEKLY;BYDAY=TU`; of the series. */
  readonly recurrence?: string;
  readonly visibility: "default" | "private" | "public";
  /** It does not block its time. */
  readonly free: boolean;
  readonly status: "confirmed" | "tentative" | "cancelled";
  readonly link?: string;
  /** State of the event at the provider; a change made from another state is refused. */
  readonly etag: string;
};

/** An event to be made. */
export type NewEvent = {
  /** Made from the tool call: lower-case letters a-v and digits only. */
  readonly id: string;
  readonly title: string;
  readonly start: EventTime;
  readonly end: EventTime;
  readonly attendees: readonly string[];
  readonly location?: string;
  readonly description?: string;
  readonly recurrence?: string;
  readonly visibility?: "default" | "private" | "public";
  /** Whether the attendees are told by the calendar. */
  readonly notify: boolean;
};

/** What to change; absent fields stay. */
export type EventChange = Partial<
  Pick<
    NewEvent,
    "title" | "start" | "end" | "attendees" | "location" | "description" | "recurrence" | "visibility"
  >
> & { readonly notify: boolean };

/** From an instant to before another, in milliseconds since 1970. */
export type TimeRange = { readonly from: number; readonly to: number };

/** What is known of one person's time; `unknown` if the provider cannot see it. */
export type Busy = {
  readonly address: string;
  readonly busy: readonly TimeRange[];
  readonly unknown?: string;
};

/** A calendar. */
export type CalendarProvider = ServiceProvider<"embedded" | "google" | "caldav"> & {
  /** The owner's address and zone. */
  self(signal: AbortSignal): Promise<{ readonly address: string; readonly zone: string }>;
  /** Occurrences that touch the range, recurring ones expanded, earliest first. */
  list(
    range: TimeRange & { readonly query?: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly events: readonly CalendarEvent[]; readonly total: number }>;
  get(id: string, signal: AbortSignal): Promise<CalendarEvent>;
  /** Raises `params` if there is an event of this id already. */
  create(event: NewEvent, signal: AbortSignal): Promise<CalendarEvent>;
  /** `params`, saying that the event has changed, if its etag is another by now. */
  update(id: string, change: EventChange, etag: string, signal: AbortSignal): Promise<CalendarEvent>;
  remove(
    id: string,
    how: { readonly etag: string; readonly notify: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Busy time of these people; the owner's own from the calendar itself. */
  busy(addresses: readonly string[], range: TimeRange, signal: AbortSignal): Promise<readonly Busy[]>;
};

/** An attendee's answer, as services write it in any case. */
export function parseResponse(text: string | null | undefined): Attendee["response"] {
  const answer = text?.toLowerCase();
  return answer === "accepted" || answer === "declined" || answer === "tentative" ? answer : "needs_action";
}

/** Who may see an event, as services write it in any case. */
export function parseVisibility(text: string | null | undefined): CalendarEvent["visibility"] {
  const name = text?.toLowerCase();
  if (name === "public") return "public";
  return name === "private" || name === "confidential" ? "private" : "default";
}

/** Whether an event takes place, as services write it in any case. */
export function parseStatus(text: string | null | undefined): CalendarEvent["status"] {
  const name = text?.toLowerCase();
  return name === "tentative" || name === "cancelled" ? name : "confirmed";
}
