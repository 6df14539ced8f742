import type { Recipient } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { writeTool } from "../service-tools/service-tool.ts";
import type { CalendarEvent } from "./calendar-provider.ts";
import { isForeign } from "./event-data.ts";
import {
  type EventView,
  explainConfirm,
  findHousehold,
  listEventPeople,
  presentEvent,
  unlessMissing,
} from "./plan-event.ts";

type DeleteInput = { event_id: string; notify?: boolean };
type DeletePlan = {
  readonly event: CalendarEvent;
  readonly people: readonly Recipient[];
  readonly view: EventView;
  readonly isSeries: boolean;
};

/** The tool `calendar_delete_event`. */
export const deleteEvent = writeTool<DeleteInput, DeletePlan>({
  name: "calendar_delete_event",
  description:
    "Removes an event for good and tells its attendees; a person must confirm it. event_id comes from calendar_list_events: that of one occurrence removes only this one, that of a series all.",
  group: "calendar",
  properties: {
    event_id: { type: "string", minLength: 1, maxLength: 1_000 },
    notify: { type: "boolean", description: "Whether the attendees are told by mail; true by default." },
  },
  required: ["event_id"],
  outbound: true,
  plan: planDelete,
  reaches: ({ people }) => ["calendar", ...people.map(({ address }) => address)],
  risk: () => "high",
  confirm: ({ people, view, isSeries }) =>
    [
      isSeries ? "it removes a whole series of events" : "it removes an event",
      people.length > 0 && explainConfirm(people, view),
    ]
      .filter(Boolean)
      .join("; "),
  present: ({ people, view, isSeries }, services) =>
    presentEvent(isSeries ? "Removes the whole series" : "Removes the event", view, { people, services }),
  find: async ({ event_id }, { services }) => {
    const event = await unlessMissing(
      services.calendar((calendar, signal) => calendar.get(event_id, signal)),
    );
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
        const now = await unlessMissing(calendar.get(event.id, signal));
        return now === null || now.status === "cancelled" ? true : null;
      },
    );
    return { data: { event_id, title: event.title, deleted: true }, tainted: isForeign(event) };
  },
});

async function planDelete({ event_id, notify = true }: DeleteInput, services: Services): Promise<DeletePlan> {
  const event = await services.calendar((calendar, signal) => calendar.get(event_id, signal));
  const household = await findHousehold(services);
  const { title, start, end, location, visibility, seriesId } = event;
  const recurrence = seriesId === undefined ? event.recurrence : undefined;
  const { zone } = services.assistant;
  const view = { title, start, end, location, recurrence, visibility, notify, zone, household };
  const isSeries = recurrence !== undefined;
  return { event, people: listEventPeople(event, household.self), view, isSeries };
}
