import type { Controlled } from "../../schema/api/session.ts";
import { Conflict, defineRoute, type Route } from "../api/route.ts";
import { controlled } from "../api/session-shapes.ts";
import { shape, words } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { ownRun } from "../own-project.ts";
import { cancelElsewhere, cancelHere } from "./session-controls.ts";

/** Ends, holds and steers runs. */
export const runControlRoutes: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/api/runs/:id/cancel",
    summary: "Ends a run with everything below it, whoever works on it.",
    answer: controlled,
    async handle({ params: { id = "" } }, desk): Promise<Controlled> {
      const { row, session } = ownRun(desk, id);
      const request = { sessionId: session.session_id, id };
      const isLive = desk.runtime.liveRoots(session.session_id) !== null;
      if (isLive && row.closed_seq === null && cancelHere(desk, request)) return { done: true };
      if (row.closed_seq !== null || session.status !== "running") return { done: false };
      return { done: await cancelElsewhere(desk, request) };
    },
  }),
  control("pause", "Holds a run and everything below it at their next turn.", ({ runtime }, id) =>
    runtime.pause(id),
  ),
  control("unpause", "Lets a run and everything below it go on.", ({ runtime }, id) => runtime.unpause(id)),
  defineRoute<Record<string, never>, { text: string }>({
    method: "post",
    path: "/api/runs/:id/steer",
    summary: "Tells a run something, which it reads at its next turn.",
    body: shape({ text: words(50_000) }),
    answer: controlled,
    handle: ({ params: { id = "" }, body }, desk) =>
      onLive(desk, id, ({ runtime }) => runtime.steer(id, body.text)),
  }),
];

function control(name: string, summary: string, act: (desk: Desk, runId: string) => boolean): Route {
  return defineRoute({
    method: "post",
    path: `/api/runs/:id/${name}`,
    summary,
    answer: controlled,
    handle: ({ params: { id = "" } }, desk) => onLive(desk, id, () => act(desk, id)),
  });
}

/** Only a run of this process can be held or told anything. */
function onLive(desk: Desk, runId: string, act: (desk: Desk) => boolean): Controlled {
  const { row, session } = ownRun(desk, runId);
  if (act(desk)) return { done: true };
  if (row.closed_seq !== null || session.status !== "running")
    throw new Conflict(`the run has ended (${row.status})`);
  if (desk.runtime.liveRoots(session.session_id) !== null)
    throw new Conflict("the run is just beginning or ending", "try again in a moment");
  const holder = desk.runtime.store.holderOf(session.session_id);
  if (holder === null) throw new Conflict("nobody works on its session", "resume the session first");
  throw new Conflict(`${holder} works on its session, and only that process can do this`);
}
