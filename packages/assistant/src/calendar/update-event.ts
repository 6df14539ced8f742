import { isSameAddress } from "../recipients/parse-address.ts";
import { findKnownDomains, presentPeople } from "../recipients/reach.ts";
import type { Recipient } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { findInstant, readTime, readZone, showTime } from "../service-tools/read-time.ts";
import { writeTool } from "../service-tools/service-tool.ts";
import { visibleLine } from "../service-tools/tool-output.ts";
import type { CalendarEvent, EventChange, EventTime } from "./calendar-provider.ts";
import { describeEvent, isForeign } from "./event-data.ts";
import { type EventSpan, measureEvent, readEventSpan } from "./event-spans.ts";
import { writeRecurrence } from "./ical/rule.ts";
import { ruleProperty } from "./ical/write-event.ts";
import {
  EVENT_PROPERTIES,
  type EventView,
  type EventWords,
  explainConfirm,
  findEventFault,
  findHousehold,
  listEventPeople,
  planAttendees,
  presentEvent,
  unlessMissing,
  withoutSelf,
} from "./plan-event.ts";

type UpdateInput = EventWords & {
  event_id: string;
  datetime?: string;
  end?: string;
  duration_minutes?: number;
  timezone?: string;
};
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
export const updateEvent = writeTool<UpdateInput, UpdatePlan>({
  name: "calendar_update_event",
  description:
    "Changes an event: only the given fields, the others stay. attendees replaces the whole list; a new datetime keeps the length unless end or duration_minutes is given. event_id comes from calendar_list_events: that of one occurrence changes only this one, that of a series all. It is refused if the event was changed by somebody else meanwhile.",
  group: "calendar",
  properties: {
    event_id: { type: "string", minLength: 1, maxLength: 1_000 },
    ...EVENT_PROPERTIES,
    duration_minutes: { ...EVENT_PROPERTIES.duration_minutes, description: "Instead of end." },
  },
  required: ["event_id"],
  outbound: true,
  check: updateFault,
  plan: planUpdate,
  reaches: ({ people }) => people.map(({ address }) => address),
  risk: (plan) => (whyChange(plan) === null ? "medium" : "high"),
  confirm: whyChange,
  present: presentChange,
  find: async (input, { services }) => {
    const event = await services.calendar((calendar, signal) => calendar.get(input.event_id, signal));
    const { change, zone } = await planChange(input, event, services);
    return holds(event, change, zone) ? updatedData(event, zone) : null;
  },
  run: async (_input, { plan: { event, change, zone }, services }) => {
    const changed = await services.calendar(
      (calendar, signal) => calendar.update(event.id, change, event.etag, signal),
      async (calendar, signal) => {
        const now = await unlessMissing(calendar.get(event.id, signal));
        return now && now.etag !== event.etag && holds(now, change, zone) ? now : null;
      },
    );
    return updatedData(changed, zone);
  },
});

function updateFault(input: UpdateInput): string | null {
  const { event_id: _id, notify: _notify, timezone, ...changes } = input;
  if (Object.keys(changes).length === 0)
    return timezone === undefined ? "say what to change" : "timezone changes nothing without datetime or end";
  return findEventFault(input);
}

async function planUpdate(input: UpdateInput, services: Services): Promise<UpdatePlan> {
  const event = await services.calendar((calendar, signal) => calendar.get(input.event_id, signal));
  const { change, attendees, zone } = await planChange(input, event, services);
  const household = await findHousehold(services);
  const before = withoutSelf(event.attendees, household.self);
  const staying = attendees ?? before;
  const { start, end, title, location, description, visibility } = { ...event, ...change };
  // One occurrence repeats nothing, whatever its series does.
  const recurrence = change.recurrence ?? (event.seriesId === undefined ? event.recurrence : undefined);
  const words = { title, location, description, recurrence, visibility };
  const view = { ...words, start, end, notify: change.notify, zone, household };
  const people = withoutSelf([...staying, ...listEventPeople(event, household.self)], household.self);
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
  const change: EventChange = { ...given, ...newSpan(input, event, zone), notify };
  if (input.attendees === undefined) return { change, zone };
  const household = await findHousehold(services);
  const attendees = await planAttendees(input.attendees, services, household);
  const own = event.attendees.filter(({ address }) => isSameAddress(address, household.self));
  const addresses = [...own, ...attendees].map(({ address }) => address);
  return { change: { ...change, attendees: addresses }, attendees, zone };
}

function newSpan(
  { datetime, end, duration_minutes, timezone }: UpdateInput,
  event: CalendarEvent,
  zone: string,
): Partial<EventSpan> {
  // A series goes on by the clocks of the zone it was made in, unless another is named.
  const kept = (time: EventTime): EventTime =>
    timezone === undefined && time.kind === "instant" && event.start.kind === "instant"
      ? { ...time, zone: event.start.zone }
      : time;
  if (datetime === undefined && end === undefined && duration_minutes === undefined) return {};
  const start = datetime === undefined ? event.start : kept(readTime(datetime, "datetime", zone));
  const usual = start.kind === event.start.kind ? measureEvent(event) : undefined;
  return readEventSpan({ start, end, durationMinutes: duration_minutes, usual }, zone);
}

function whyChange({ event, view, people }: UpdatePlan): string | null {
  const isSeries = event.seriesId === undefined && (event.recurrence ?? view.recurrence) !== undefined;
  const reasons = [
    isSeries && people.length > 0 && "it changes a whole series that others attend",
    explainConfirm(people, view),
  ].filter(Boolean);
  return reasons.length > 0 ? reasons.join("; ") : null;
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
    `Changes '${visibleLine(event.title)}'${series} of ${showTime(event.start, zone)} to ${showTime(event.end, zone)}, into`,
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
function sameRule(one: string, other: string, start: EventTime): boolean {
  const written = (rule: string) => {
    try {
      return writeRecurrence(ruleProperty(rule, start)[3]).split(";").sort().join(";");
    } catch {
      return rule;
    }
  };
  return one === other || (one !== "" && other !== "" && written(one) === written(other));
}

/** Whether an event is as a change wants it; services trim texts and have their own line ends. */
function holds(event: CalendarEvent, change: EventChange, zone: string): boolean {
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
    (change.recurrence === undefined || sameRule(event.recurrence ?? "", change.recurrence, event.start)) &&
    same(event.start, change.start) &&
    same(event.end, change.end) &&
    (change.attendees === undefined || listed(change.attendees) === there)
  );
}

function updatedData(event: CalendarEvent, zone: string) {
  return { data: { ...describeEvent(event, zone), updated: true }, tainted: isForeign(event) };
}
