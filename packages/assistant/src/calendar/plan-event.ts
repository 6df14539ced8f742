// What making, changing and removing an event have in common: its input, whom it reaches, how a person sees it.

import { messageOf } from "@retinue/core/schema/error";
import { isSameAddress } from "../recipients/mail-address.ts";
import {
  dropRepeated,
  explainHighRisk,
  findEntryFault,
  findKnownDomains,
  type Household,
  joinReasons,
  presentPeople,
  type Recipient,
  resolveRecipients,
} from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import {
  describeMoment,
  describePeople,
  describeText,
  type ToolInput,
} from "../service-tools/service-tool.ts";
import { showTime } from "../service-tools/times.ts";
import { isServiceFault } from "../service-tools/tool-fault.ts";
import { hasHiddenText, revealLine, writeVisible } from "../service-tools/tool-output.ts";
import type { CalendarEvent, NewEvent } from "./calendar-provider.ts";
import { parseRecurrence } from "./ical/recurrence.ts";

/** An event as it will be, for a person to look at. */
export type EventView = Pick<NewEvent, "title" | "start" | "end" | "notify"> &
  Partial<Pick<NewEvent, "location" | "description" | "recurrence" | "visibility">> & {
    readonly zone: string;
    readonly household: Household;
  };

/** The input of the tools that make or change an event. */
export const EVENT_PROPERTIES = {
  title: describeText(500, "One line."),
  datetime: describeMoment(
    "When it begins, ISO 8601: 2026-11-17T14:00 (in timezone), 2026-11-17T14:00:00+01:00, or 2026-11-17 for a whole day.",
  ),
  end: describeMoment("When it ends, written like datetime; of a whole-day event, the first day after it."),
  duration_minutes: {
    type: "integer",
    minimum: 1,
    maximum: 20_160,
    description: "Instead of end; 60 by default.",
  },
  timezone: describeText(
    60,
    "IANA name such as Europe/Berlin, for times without an offset; the person's own by default.",
  ),
  attendees: describePeople(
    "Whom to invite: a mail address, contact's name or list's name (such as team) for each entry.",
  ),
  location: { type: "string", maxLength: 500 },
  description: { type: "string", maxLength: 8_000 },
  recurrence: {
    type: "string",
    maxLength: 300,
    description: "An RRULE without its name, such as FREQ=WEEKLY;BYDAY=TU;COUNT=10.",
  },
  visibility: {
    type: "string",
    enum: ["default", "private", "public"],
    description: "public: everybody who can see the calendar sees what it is about.",
  },
  notify: { type: "boolean", description: "Whether the attendees are told by mail; true by default." },
} as const;

/** What a caller gives of an event. */
export type EventInput = ToolInput<typeof EVENT_PROPERTIES>;

const RECURRENCE = /^FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)(?:;[A-Z]+=[A-Z0-9,+-]+)*$/;

/** What is wrong with the words of an event; null if nothing. */
export function findEventFault({ title, location, recurrence, attendees = [] }: EventInput): string | null {
  if (title !== undefined && breaksLine(title)) return "title must be one line without invisible characters";
  if (location !== undefined && breaksLine(location))
    return "location must be one line without invisible characters";
  return (recurrence ? findRuleFault(recurrence) : null) ?? findEntryFault(attendees);
}

function findRuleFault(recurrence: string): string | null {
  if (!RECURRENCE.test(recurrence))
    return "recurrence must be an RRULE without its name, such as FREQ=WEEKLY;BYDAY=TU";
  try {
    parseRecurrence(recurrence);
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** The event of an id; `params` if there is none. */
export function getEvent(id: string, services: Services): Promise<CalendarEvent> {
  return services.calendar((calendar, signal) => calendar.get(id, signal));
}

/** The owner as the calendar knows them. */
export async function findHousehold(services: Services): Promise<Household> {
  const { address } = await services.calendar((calendar, signal) => calendar.self(signal));
  return { self: address, internalDomains: services.assistant.internalDomains };
}

/** Whom the entries of `attendees` mean, without the owner. */
export async function planAttendees(
  written: readonly string[],
  services: Services,
  household: Household,
): Promise<readonly Recipient[]> {
  const { self } = household;
  const found = await resolveRecipients(written, "attendees", { services, self });
  return dropSelf(found, self);
}

/** The people of an event without its owner. */
export function dropSelf(people: readonly Recipient[], self: string): readonly Recipient[] {
  return dropRepeated(people.filter(({ address }) => !isSameAddress(address, self)));
}

/** Everybody who learns of a change of an event that is there: its attendees and its organizer. */
export function listEventPeople({ attendees, organizer }: CalendarEvent, self: string): readonly Recipient[] {
  const caller = organizer && !organizer.self ? [{ address: organizer.address }] : [];
  return dropSelf([...attendees, ...caller], self);
}

/** Why an event needs a person's confirmation; null if it does not. */
export function explainConfirm(
  people: readonly Recipient[],
  { visibility, household }: Pick<EventView, "visibility" | "household">,
): string | null {
  return joinReasons([
    visibility === "public" && "everybody can see the event",
    people.length > 0 && explainHighRisk(people, household),
  ]);
}

/** An event as a person must see it before it is made or changed. */
export async function presentEvent(
  heading: string,
  view: EventView,
  { people, services }: { people: readonly Recipient[]; services: Services },
): Promise<string> {
  const { zone, start, end } = view;
  const surroundings = await findKnownDomains(view.household.self, services);
  return [
    `${heading}: ${revealLine(view.title)}`,
    `When: ${showTime(start, zone)} to ${showTime(end, zone)} (${zone})`,
    view.recurrence && `Repeats: ${revealLine(view.recurrence)}`,
    view.location && `Where: ${revealLine(view.location)}`,
    ...presentPeople("Attendees", people, surroundings),
    `Visibility: ${view.visibility ?? "default"}`,
    people.length > 0 && (view.notify ? "The attendees are notified." : "The attendees are not notified."),
    view.description && `\n${writeVisible(view.description)}`,
  ]
    .filter((line) => typeof line === "string" && line !== "")
    .join("\n");
}

/** Null for what the service does not know; other faults stay. */
export async function findOrNull<Value>(found: Promise<Value>): Promise<Value | null> {
  try {
    return await found;
  } catch (thrown) {
    if (isServiceFault(thrown, "params")) return null;
    throw thrown;
  }
}

function breaksLine(text: string): boolean {
  return /[\r\n]/.test(text) || hasHiddenText(text);
}
