import type { Recipient } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { readTime, readZone } from "../service-tools/read-time.ts";
import { writeTool } from "../service-tools/service-tool.ts";
import type { ToolAnswer } from "../service-tools/tool-output.ts";
import type { CalendarEvent } from "./calendar-provider.ts";
import { type Conflicts, describeEvent, findConflicts } from "./event-data.ts";
import { readEventSpan } from "./event-spans.ts";
import {
  EVENT_PROPERTIES,
  type EventView,
  type EventWords,
  explainConfirm,
  findEventFault,
  findHousehold,
  planAttendees,
  presentEvent,
  rateEvent,
  unlessMissing,
} from "./plan-event.ts";

type CreateInput = EventWords & {
  title: string;
  datetime: string;
  end?: string;
  duration_minutes?: number;
  timezone?: string;
};
type CreatePlan = EventView & { readonly people: readonly Recipient[] };

/** The tool `calendar_create_event`. */
export const createEvent = writeTool<CreateInput, CreatePlan>({
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
  risk: (plan) => rateEvent(plan.people, plan),
  confirm: (plan) => explainConfirm(plan.people, plan),
  present: (plan, services) => presentEvent("New event", plan, { people: plan.people, services }),
  find: async ({ timezone }, { services, key }) => {
    const zone = readZone(timezone, services.assistant.zone);
    const event = await unlessMissing(services.calendar((calendar, signal) => calendar.get(key, signal)));
    if (!event || event.status === "cancelled") return null;
    return createdData(event, zone, await findConflicts(event, { services, zone, except: event.id }));
  },
  run: async (_input, { plan, services, key }) => {
    const { zone, people, household: _household, ...words } = plan;
    const conflicts = await findConflicts(plan, { services, zone, except: key });
    const attendees = people.map(({ address }) => address);
    const event = await services.calendar(
      (calendar, signal) => calendar.create({ ...words, id: key, attendees }, signal),
      (calendar, signal) => unlessMissing(calendar.get(key, signal)),
    );
    return createdData(event, zone, conflicts);
  },
});

async function planCreate(input: CreateInput, services: Services): Promise<CreatePlan> {
  const zone = readZone(input.timezone, services.assistant.zone);
  const start = readTime(input.datetime, "datetime", zone);
  const span = readEventSpan({ start, end: input.end, durationMinutes: input.duration_minutes }, zone);
  const household = await findHousehold(services);
  const { title, location, description, recurrence, visibility, notify = true } = input;
  return {
    title,
    ...span,
    ...(location && { location }),
    ...(description && { description }),
    ...(recurrence && { recurrence }),
    ...(visibility && { visibility }),
    notify,
    zone,
    household,
    people: await planAttendees(input.attendees ?? [], services, household),
  };
}

function createdData(event: CalendarEvent, zone: string, { conflicts, tainted }: Conflicts): ToolAnswer {
  const { location, recurrence, link } = event;
  const more = { ...(location && { location }), ...(recurrence && { recurrence }), ...(link && { link }) };
  return { data: { ...describeEvent(event, zone), ...more, conflicts }, tainted };
}
