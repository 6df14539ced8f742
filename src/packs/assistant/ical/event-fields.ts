import type { Attendee, CalendarEvent } from "../calendar/calendar-provider.ts";
import { ruleText } from "../recurrence/rule.ts";
import { type Component, parameterOf, propertiesOf, propertyOf, textOf } from "./jcal.ts";

/** How events are read: what a calendar's text does not say by itself. */
export type Reading = {
  /** For times that name no zone. */
  readonly zone: string;
  /** The address of the calendar's owner. */
  readonly owner: string;
  readonly etag: string;
  readonly link?: string;
};

/** What an event says besides its times and ids. */
export type EventFields = Omit<CalendarEvent, "id" | "seriesId" | "start" | "end" | "etag">;

const RESPONSES: Readonly<Record<string, Attendee["response"]>> = {
  ACCEPTED: "accepted",
  DECLINED: "declined",
  TENTATIVE: "tentative",
};
const MAX_ATTENDEES = 1_000;

/** The fields of one event; `series` gives the recurrence of an occurrence that differs. */
export function fieldsOf(event: Component, reading: Reading, series: Component = event): EventFields {
  const location = textOf(event, "location");
  const description = textOf(event, "description");
  const organizer = addressOf(propertyOf(event, "organizer")?.[3]);
  const rule = propertyOf(series, "rrule")?.[3];
  const url = textOf(event, "url");
  const link = reading.link ?? (url && /^https?:\/\//i.test(url) ? url : undefined);
  return {
    title: textOf(event, "summary") ?? "",
    ...(location !== undefined && { location }),
    ...(description !== undefined && { description }),
    ...(organizer !== undefined && {
      organizer: { address: organizer, self: organizer === reading.owner.toLowerCase() },
    }),
    attendees: attendeesOf(event),
    ...(rule !== undefined && { recurrence: ruleText(rule) }),
    visibility: visibilityOf(textOf(event, "class")),
    free: textOf(event, "transp")?.toUpperCase() === "TRANSPARENT",
    status: statusOf(textOf(event, "status")),
    ...(link !== undefined && { link }),
  };
}

function attendeesOf(event: Component): Attendee[] {
  const attendees: Attendee[] = [];
  for (const property of propertiesOf(event, "attendee").slice(0, MAX_ATTENDEES)) {
    const address = addressOf(property[3]);
    if (address === undefined) continue;
    const name = parameterOf(property, "cn");
    const response = RESPONSES[parameterOf(property, "partstat")?.toUpperCase() ?? ""] ?? "needs_action";
    attendees.push({ address, ...(name && name !== address && { name }), response });
  }
  return attendees;
}

/** The address of `mailto:a@b`, lower case; undefined for other kinds. */
export function addressOf(value: unknown): string | undefined {
  const address =
    typeof value === "string"
      ? value
          .replace(/^mailto:/i, "")
          .trim()
          .toLowerCase()
      : "";
  return /^[^\s@]+@[^\s@]+$/.test(address) ? address : undefined;
}

function visibilityOf(value: string | undefined): CalendarEvent["visibility"] {
  const name = value?.toUpperCase();
  if (name === "PUBLIC") return "public";
  return name === "PRIVATE" || name === "CONFIDENTIAL" ? "private" : "default";
}

function statusOf(value: string | undefined): CalendarEvent["status"] {
  const name = value?.toUpperCase();
  if (name === "CANCELLED") return "cancelled";
  return name === "TENTATIVE" ? "tentative" : "confirmed";
}
