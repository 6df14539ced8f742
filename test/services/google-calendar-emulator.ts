import { defineEmulator } from "emulate";

/** An event as Google's API carries it. */
export type Resource = {
  id: string;
  etag: string;
  status: string;
  summary?: string;
  start: Moment;
  end: Moment;
  recurrence?: string[];
  recurringEventId?: string;
  attendees?: { email: string; responseStatus?: string; displayName?: string }[];
  [field: string]: unknown;
};

type Moment = { dateTime?: string; date?: string; timeZone?: string };
type State = {
  events: Record<string, Resource>;
  version: number;
  /** Busy times of people whose calendar the owner may see. */
  others: Record<string, { start: string; end: string }[]>;
  /** `sendUpdates` of every write, oldest first. */
  told: string[];
};

const WEEK_MS = 7 * 24 * 3_600_000;
const EVENTS = "/calendar/v3/calendars/:calendarId/events";

/** The state of a calendar without events. */
export function emptyCalendar(): State {
  return { events: {}, version: 0, others: {}, told: [] };
}

/** Google Calendar as its reference describes it, for what `emulate` leaves out: ids, ETags, changes and weekly series. */
export const calendarEmulator = defineEmulator({
  name: "google-calendar",
  state: emptyCalendar,
  setup({ app, state }) {
    app.get(EVENTS, (c) => {
      const { timeMin = "", timeMax = "", q = "", pageToken = "0" } = readQuery(c.req.url);
      const found = Object.values(state.events)
        .flatMap((event) => occurrences(event, state))
        .filter((event) => event.status !== "cancelled")
        .filter(
          (event) =>
            findEnd(event) > (Date.parse(timeMin) || -Infinity) &&
            findStart(event) < (Date.parse(timeMax) || Infinity),
        )
        .filter((event) => JSON.stringify(event).toLowerCase().includes(q.toLowerCase()))
        .sort((one, other) => findStart(one) - findStart(other));
      const first = Number(pageToken);
      const last = first + Number(readQuery(c.req.url).maxResults ?? 250);
      const next = last < found.length ? { nextPageToken: String(last) } : {};
      return c.json({ timeZone: "Europe/Berlin", items: found.slice(first, last), ...next });
    });
    app.get(`${EVENTS}/:id`, (c) => {
      const event = find(state, c.req.param("id"));
      return event ? c.json(event) : refuse(404, "notFound");
    });
    app.post(EVENTS, async (c) => {
      const body = await c.req.json<Resource>();
      if (state.events[body.id]) return refuse(409, "duplicate");
      if (!/^[a-v0-9]{5,}$/.test(body.id)) return refuse(400, "invalid");
      state.told.push(readQuery(c.req.url).sendUpdates ?? "");
      return c.json(
        keep(state, {
          ...body,
          status: "confirmed",
          organizer: { email: "alex@retinue.example", self: true },
        }),
      );
    });
    app.patch(`${EVENTS}/:id`, async (c) => {
      const event = find(state, c.req.param("id"));
      if (!event) return refuse(404, "notFound");
      if (isStale(event, c.req.header("If-Match"))) return refuse(412, "conditionNotMet");
      state.told.push(readQuery(c.req.url).sendUpdates ?? "");
      return c.json(keep(state, { ...event, ...(await c.req.json<Partial<Resource>>()) }));
    });
    app.delete(`${EVENTS}/:id`, (c) => {
      const event = find(state, c.req.param("id"));
      if (!event) return refuse(404, "notFound");
      if (event.status === "cancelled") return refuse(410, "deleted");
      if (isStale(event, c.req.header("If-Match"))) return refuse(412, "conditionNotMet");
      state.told.push(readQuery(c.req.url).sendUpdates ?? "");
      keep(state, { ...event, status: "cancelled" });
      return c.body(null, 204);
    });
    app.post("/calendar/v3/freeBusy", async (c) => {
      const { items, timeMin, timeMax } = await c.req.json<{
        items: { id: string }[];
        timeMin: string;
        timeMax: string;
      }>();
      const own = Object.values(state.events)
        .flatMap((event) => occurrences(event, state))
        .filter((event) => event.status !== "cancelled" && event.transparency !== "transparent")
        .filter((event) => findEnd(event) > Date.parse(timeMin) && findStart(event) < Date.parse(timeMax))
        .map(({ start, end }) => ({ start: start.dateTime, end: end.dateTime }));
      const answers = items.map(({ id }) => {
        const busy = id === "primary" ? own : state.others[id];
        return [id, busy ? { busy } : { errors: [{ domain: "global", reason: "notFound" }], busy: [] }];
      });
      return c.json({ kind: "calendar#freeBusy", calendars: Object.fromEntries(answers) });
    });
  },
});

/** Occurrences of a weekly series that nobody changed, or the event itself. */
function occurrences(event: Resource, state: State): Resource[] {
  const count = Number(/COUNT=(\d+)/.exec(event.recurrence?.[0] ?? "")?.[1] ?? 0);
  if (count === 0) return [event];
  const { recurrence, ...single } = event;
  return Array.from({ length: count }, (_, index): Resource => {
    const start = new Date(findStart(event) + index * WEEK_MS).toISOString();
    const end = new Date(findEnd(event) + index * WEEK_MS).toISOString();
    return {
      ...single,
      id: `${event.id}_${start.replace(/[-:]|\.\d+/g, "")}`,
      recurringEventId: event.id,
      start: { ...event.start, dateTime: start },
      end: { ...event.end, dateTime: end },
    };
  }).filter(({ id }) => !state.events[id]);
}

function find(state: State, id: string): Resource | undefined {
  const series = state.events[id.split("_")[0] ?? ""];
  return state.events[id] ?? (series && occurrences(series, state).find((event) => event.id === id));
}

function keep(state: State, event: Omit<Resource, "etag">): Resource {
  state.version++;
  const kept = { ...event, etag: `"${state.version}"`, id: String(event.id) } as Resource;
  state.events[kept.id] = kept;
  return kept;
}

function isStale(event: Resource, etag: string | undefined): boolean {
  return etag !== undefined && etag !== event.etag;
}

function findStart({ start }: Resource): number {
  return Date.parse(start.dateTime ?? `${start.date}T00:00:00Z`);
}

function findEnd({ end }: Resource): number {
  return Date.parse(end.dateTime ?? `${end.date}T00:00:00Z`);
}

function readQuery(url: string): Record<string, string | undefined> {
  return Object.fromEntries(new URL(url).searchParams);
}

/** A failure in the shape of Google's APIs. */
export function refuse(code: number, reason: string): Response {
  const message = `emulated ${reason}`;
  return Response.json(
    { error: { code, message, errors: [{ domain: "global", reason, message }] } },
    { status: code },
  );
}
