import { digits } from "../api/digits.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { shape } from "../api/shapes.ts";

/** Live streams. */
export const eventRoutes: readonly Route[] = [
  defineRoute<{ after?: string }>({
    method: "get",
    path: "/api/sessions/:id/events",
    summary:
      "What happens in a session, as server-sent events: first everything after a seq, then as it comes.",
    query: shape({ "after?": digits }),
    answers: "text/event-stream",
    handle({ params: { id = "" }, query: { after }, headers, signal }, { feeds }) {
      return feeds.session(id, lastSeen(headers) ?? Number(after ?? 0), signal);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/events",
    summary: "What lists may want to load again, as server-sent events.",
    answers: "text/event-stream",
    handle: ({ signal }, { feeds }) => feeds.news(signal),
  }),
];

/** What a browser that comes back saw last; it repeats the address it first asked with. */
function lastSeen(headers: Headers): number | undefined {
  const id = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
