// The tools that make, change and remove events.

import { isSameAddress } from "../recipients/mail-address.ts";
import { findKnownDomains, joinReasons, presentPeople, type Recipient } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { describeText, type ToolInput, writeTool } from "../service-tools/service-tool.ts";
import {
  type EventSpan,
  findInstant,
  measureEvent,
  readEventSpan,
  readTime,
  readZone,
  showTime,
} from "../service-tools/times.ts";
import { revealLine, type ToolAnswer } from "../service-tools/tool-output.ts";
import type { CalendarEvent, EventChange, EventTime } from "./calendar-provider.ts";
import { writeRecurrence } from "./ical/recurrence.ts";
import { buildRuleProperty } from "./ical/write-event.ts";
import {
  dropSelf,
  EVENT_PROPERTIES,
  type EventView,
  explainConfirm,
  findEventFault,
  findHousehold,
  findOrNull,
  getEvent,
  listEventPeople,
  planAttendees,
  presentEvent,
} from "./plan-event.ts";
import { type Conflicts, describeEvent, findConflicts, isForeign } from "./read-calendar-tools.ts";

type CreateInput = ToolInput<typeof EVENT_PROPERTIES, "title" | "datetime">;
type CreatePlan = EventView & { readonly people: readonly Recipient[] };

/** The tool `calendar_create_event`. */
export const createEvent = writeTool({
  name: "calendar_create_event",
  description:
    "Puts an event into the person's calendar and invites its attendees. Look with calendar_check_availability first; events that are there at the same time do not stop it but are given as conflicts. Several attendees, one outside the organisation, or a public event need a person's confirmation. Gives event_id.",
  group: "calendar",
  properties: EVENT_PROPERTIES,
  required: ["title", "datetime"],
  outbound: ({ attendees = [], visibility }) => attendees.length > 0 || visibility === "public",
  check: findEventFault,
  plan: planCreate,
  reaches: ({ people }) => people.map(({ address }) => address),
  confirm: (plan) => explainConfirm(plan.people, plan),
  present: (plan, services) => presentEvent("New event", plan, { people: plan.people, services }),
  find: async ({ timezone }, { services, key }) => {
    const zone = readZone(timezone, services.assistant.zone);
    const event = await findOrNull(getEvent(key, services));
    if (!event || event.status === "cancelled") return null;
    return describeCreated(event, zone, await findConflicts(event, { services, zone, except: event.id }));
  },
  run: async (_input, { plan, services, key }) => {
    const { zone, people, household: _household, ...words } = plan;
    const conflicts = await findConflicts(plan, { services, zone, except: key });
    const attendees = people.map(({ address }) => address);
    const event = await services.calendar(
      (calendar, signal) => calendar.create({ ...words, id: key, attendees }, signal),
      (calendar, signal) => findOrNull(calendar.get(key, signal)),
    );
    return describeCreated(event, zone, conflicts);
  },
});

async function planCreate(input: CreateInput, services: Services): Promise<CreatePlan> {
  const zone = readZone(input.timezone, services.assistant.zone);
  const start = readTime(input.datetime, "datetime", zone);
  const span = readEventSpan({ start, end: input.end, durationMinutes: input.duration_minutes }, zone);
  const household = await findHousehold(services);
  const { title, location, description, recurrence, visibility, notify = true } = input;
  const people = await planAttendees(input.attendees ?? [], services, household);
  return {
    ...{ title, ...span, location, description, recurrence, visibility },
    ...{ notify, zone, household, people },
  };
}

function describeCreated(event: CalendarEvent, zone: string, { conflicts, tainted }: Conflicts): ToolAnswer {
  const { location, recurrence, link } = event;
  return { data: { ...describeEvent(event, zone), location, recurrence, link, conflicts }, tainted };
}

const UPDATE_PROPERTIES = {
  event_id: describeText(1_000),
  ...EVENT_PROPERTIES,
  duration_minutes: { ...EVENT_PROPERTIES.duration_minutes, description: "Instead of end." },
} as const;
type UpdateInput = ToolInput<typeof UPDATE_PROPERTIES, "event_id">;
type UpdatePlan = {
  readonly event: CalendarEvent;
  readonly change: EventChange;
  readonly view: EventView;
  /** Whom the event has now or will have. */
  readonly people: readonly Recipient[];
  /** Whom it will have. */
  readonly staying: readonly Recipient[];
  readonly zone: string;
};

/** The tool `calendar_update_event`. */
export const updateEvent = writeTool({
  name: "calendar_update_event",
  description:
    "Changes an event: only the given fields, the others stay. attendees replaces the whole list; a new datetime keeps the length unless end or duration_minutes is given. event_id comes from calendar_list_events: that of one occurrence changes only this one, that of a series all. It is refused if the event was changed by somebody else meanwhile.",
  group: "calendar",
  properties: UPDATE_PROPERTIES,
  required: ["event_id"],
  outbound: true,
  check: findUpdateFault,
  plan: planUpdate,
  reaches: ({ people }) => people.map(({ address }) => address),
  confirm: explainChange,
  present: presentChange,
  find: async (input, { services }) => {
    const event = await getEvent(input.event_id, services);
    const { change, zone } = await planChange(input, event, services);
    return hasChange(event, change, zone) ? describeUpdated(event, zone) : null;
  },
  run: async (_input, { plan: { event, change, zone }, services }) => {
    const changed = await services.calendar(
      (calendar, signal) => calendar.update(event.id, change, event.etag, signal),
      async (calendar, signal) => {
        const now = await findOrNull(calendar.get(event.id, signal));
        return now && now.etag !== event.etag && hasChange(now, change, zone) ? now : null;
      },
    );
    return describeUpdated(changed, zone);
  },
});

function findUpdateFault(input: UpdateInput): string | null {
  const { event_id: _id, notify: _notify, timezone, ...changes } = input;
  if (Object.keys(changes).length === 0)
    return timezone === undefined ? "say what to change" : "timezone changes nothing without datetime or end";
  return findEventFault(input);
}

async function planUpdate(input: UpdateInput, services: Services): Promise<UpdatePlan> {
  const event = await getEvent(input.event_id, services);
  const { change, attendees, zone } = await planChange(input, event, services);
  const household = await findHousehold(services);
  const before = dropSelf(event.attendees, household.self);
  const staying = attendees ?? before;
  const { start, end, title, location, description, visibility } = { ...event, ...change };
  // One occurrence repeats nothing, whatever its series does.
  const recurrence = change.recurrence ?? (event.seriesId === undefined ? event.recurrence : undefined);
  const words = { title, location, description, recurrence, visibility };
  const view = { ...words, start, end, notify: change.notify, zone, household };
  const people = dropSelf([...staying, ...listEventPeople(event, household.self)], household.self);
  return { event, change, view, people, staying, zone };
}

/** What a call changes; the owner stays among the attendees if they are one. */
async function planChange(
  input: UpdateInput,
  event: CalendarEvent,
  services: Services,
): Promise<{ change: EventChange; attendees?: readonly Recipient[]; zone: string }> {
  const { title, location, description, recurrence, visibility, notify = true } = input;
  const zone = readZone(input.timezone, services.assistant.zone);
  const words = { title, location, description, recurrence, visibility };
  const given = Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined));
  const change: EventChange = { ...given, ...readNewSpan(input, event, zone), notify };
  if (input.attendees === undefined) return { change, zone };
  const household = await findHousehold(services);
  const attendees = await planAttendees(input.attendees, services, household);
  const own = event.attendees.filter(({ address }) => isSameAddress(address, household.self));
  const addresses = [...own, ...attendees].map(({ address }) => address);
  return { change: { ...change, attendees: addresses }, attendees, zone };
}

function readNewSpan(
  { datetime, end, duration_minutes, timezone }: UpdateInput,
  event: CalendarEvent,
  zone: string,
): Partial<EventSpan> {
  // A series keeps the zone it was made in, unless another is named.
  const kept = (time: EventTime): EventTime =>
    timezone === undefined && time.kind === "instant" && event.start.kind === "instant"
      ? { ...time, zone: event.start.zone }
      : time;
  if (datetime === undefined && end === undefined && duration_minutes === undefined) return {};
  const start = datetime === undefined ? event.start : kept(readTime(datetime, "datetime", zone));
  const usual = start.kind === event.start.kind ? measureEvent(event) : undefined;
  return readEventSpan({ start, end, durationMinutes: duration_minutes, usual }, zone);
}

function explainChange({ event, view, people }: UpdatePlan): string | null {
  const isSeries = event.seriesId === undefined && (event.recurrence ?? view.recurrence) !== undefined;
  return joinReasons([
    isSeries && people.length > 0 && "it changes a whole series that others attend",
    explainConfirm(people, view),
  ]);
}

async function presentChange(plan: UpdatePlan, services: Services): Promise<string> {
  const { event, view, people, staying, zone } = plan;
  const surroundings = await findKnownDomains(view.household.self, services);
  const series = event.recurrence && !event.seriesId ? ", its whole series," : "";
  const absent = people.filter(
    ({ address }) => !staying.some((other) => isSameAddress(other.address, address)),
  );
  const isCaller = ({ address }: Recipient) => isSameAddress(address, event.organizer?.address ?? "");
  return [
    `Changes '${revealLine(event.title)}'${series} of ${showTime(event.start, zone)} to ${showTime(event.end, zone)}, into`,
    await presentEvent("Event", view, { people: staying, services }),
    ...presentPeople(
      "No longer attending",
      absent.filter((each) => !isCaller(each)),
      surroundings,
    ),
    ...presentPeople("Called by", absent.filter(isCaller), surroundings),
  ].join("\n");
}

/** Whether two rules say the same for an event; services write the day a series ends in their own way. */
function isSameRule(one: string, other: string, start: EventTime): boolean {
  const written = (rule: string) => {
    try {
      return writeRecurrence(buildRuleProperty(rule, start)[3]).split(";").sort().join(";");
    } catch {
      return rule;
    }
  };
  return one === other || (one !== "" && other !== "" && written(one) === written(other));
}

/** Whether an event is as a change wants it; services trim texts and have their own line ends. */
function hasChange(event: CalendarEvent, change: EventChange, zone: string): boolean {
  const same = (one: EventTime, other: EventTime | undefined) =>
    other === undefined || (one.kind === other.kind && findInstant(one, zone) === findInstant(other, zone));
  const words = ["title", "location", "description", "visibility"] as const;
  const plain = (text = "") => text.replaceAll("\r\n", "\n").trim();
  const listed = (addresses: readonly string[]) =>
    addresses
      .map((each) => each.toLowerCase())
      .sort()
      .join(" ");
  const there = listed(event.attendees.map(({ address }) => address));
  return (
    words.every((word) => change[word] === undefined || plain(event[word]) === plain(change[word])) &&
    (change.recurrence === undefined || isSameRule(event.recurrence ?? "", change.recurrence, event.start)) &&
    same(event.start, change.start) &&
    same(event.end, change.end) &&
    (change.attendees === undefined || listed(change.attendees) === there)
  );
}

function describeUpdated(event: CalendarEvent, zone: string) {
  return { data: { ...describeEvent(event, zone), updated: true }, tainted: isForeign(event) };
}

type DeletePlan = {
  readonly event: CalendarEvent;
  readonly people: readonly Recipient[];
  readonly view: EventView;
  readonly isSeries: boolean;
};

/** The tool `calendar_delete_event`. */
export const deleteEvent = writeTool({
  name: "calendar_delete_event",
  description:
    "Removes an event for good and tells its attendees; a person must confirm it. event_id comes from calendar_list_events: that of one occurrence removes only this one, that of a series all.",
  group: "calendar",
  properties: {
    event_id: describeText(1_000),
    notify: { type: "boolean", description: "Whether the attendees are told by mail; true by default." },
  },
  required: ["event_id"],
  outbound: true,
  plan: planDelete,
  reaches: ({ people }) => ["calendar", ...people.map(({ address }) => address)],
  confirm: ({ people, view, isSeries }) =>
    joinReasons([
      isSeries ? "it removes a whole series of events" : "it removes an event",
      people.length > 0 && explainConfirm(people, view),
    ]),
  present: ({ people, view, isSeries }, services) =>
    presentEvent(isSeries ? "Removes the whole series" : "Removes the event", view, { people, services }),
  find: async ({ event_id }, { services }) => {
    const event = await findOrNull(getEvent(event_id, services));
    if (event && event.status !== "cancelled") return null;
    const tainted = event !== null && isForeign(event);
    return { data: { event_id, title: event?.title ?? "", deleted: true }, tainted };
  },
  run: async ({ event_id }, { plan: { event, view }, services }) => {
    const how = { etag: event.etag, notify: view.notify };
    await services.calendar<true>(
      async (calendar, signal) => {
        await calendar.remove(event.id, how, signal);
        return true;
      },
      async (calendar, signal) => {
        const now = await findOrNull(calendar.get(event.id, signal));
        return now === null || now.status === "cancelled" ? true : null;
      },
    );
    return { data: { event_id, title: event.title, deleted: true }, tainted: isForeign(event) };
  },
});

async function planDelete(
  { event_id, notify = true }: { event_id: string; notify?: boolean },
  services: Services,
): Promise<DeletePlan> {
  const event = await getEvent(event_id, services);
  const household = await findHousehold(services);
  const { title, start, end, location, visibility, seriesId } = event;
  const recurrence = seriesId === undefined ? event.recurrence : undefined;
  const { zone } = services.assistant;
  const view = { title, start, end, location, recurrence, visibility, notify, zone, household };
  const isSeries = recurrence !== undefined;
  return { event, people: listEventPeople(event, household.self), view, isSeries };
}
