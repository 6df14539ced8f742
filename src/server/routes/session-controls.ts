import { cancelUnheld } from "../../runtime/record/cancel-recorded.ts";
import type { Controlled, Started, StartRequest } from "../../schema/api/session.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import { Conflict, defineRoute, type Route } from "../api/route.ts";
import { controlled, started } from "../api/session-shapes.ts";
import { flag, shape, text, words } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { mustBeWritable } from "../must-be-writable.ts";
import { ownSession } from "../own-project.ts";
import { PERSON } from "../person.ts";

const TASK = words(200_000);
const NAME = words(300);

/** Begins sessions, goes on with them and ends them. */
export const sessionControlRoutes: readonly Route[] = [
  defineRoute<Record<string, never>, StartRequest>({
    method: "post",
    path: "/api/sessions",
    summary: "Starts a task in a session of its own, or goes on in one that has ended.",
    body: shape({ task: TASK, "agent?": NAME, "model?": NAME, "sessionId?": NAME, "paced?": flag }),
    answer: started,
    async handle({ body }, desk): Promise<Started> {
      const session = body.sessionId === undefined ? null : ownSession(desk, body.sessionId);
      return start(desk, body, session);
    },
  }),
  defineRoute<Record<string, never>, { text: string; agent?: string; model?: string }>({
    method: "post",
    path: "/api/sessions/:id/messages",
    summary:
      "Tells a session something: its running task hears it at its next turn, or a new task begins with it.",
    body: shape({ text: TASK, "agent?": NAME, "model?": NAME }),
    answer: shape({ steered: flag, sessionId: text, runId: text }),
    async handle({ params: { id = "" }, body: { text: said, ...chosen } }, desk) {
      const session = ownSession(desk, id);
      const live = desk.runtime.liveRoots(id) ?? [];
      if (live.length > 1) throw new Conflict("several tasks run in it at once", "steer one of its runs");
      const [runId] = live;
      if (runId !== undefined && desk.runtime.steer(runId, said))
        return { steered: true, sessionId: id, runId };
      return { steered: false, ...(await start(desk, { task: said, ...chosen }, session)) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/sessions/:id/cancel",
    summary: "Ends a session with everything in it, whoever works on it.",
    answer: controlled,
    async handle({ params: { id = "" } }, desk): Promise<Controlled> {
      const session = ownSession(desk, id);
      const { runtime } = desk;
      if (session.status !== "running") return { done: false };
      const isStopped = runtime.cancel(id);
      // It may also have been stopped before, with only that still to be written.
      await runtime.store.written().catch(notKept);
      const { status } = ownSession(desk, id);
      if (isStopped || status !== "running") return { done: isStopped || status === "cancelled" };
      return { done: await cancelElsewhere(desk, { sessionId: id, id }) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/sessions/:id/resume",
    summary: "Goes on with a session whose process ended in the middle of it.",
    answer: started,
    async handle({ params: { id = "" } }, desk): Promise<Started> {
      const session = ownSession(desk, id);
      mustBeWritable(desk);
      refuseHeld(desk, session);
      if (session.status !== "running") throw new Conflict(`it has ended (${session.status})`);
      await desk.project.reload();
      const { sessionId, runId } = await desk.runtime.resume(id);
      return { sessionId, runId };
    },
  }),
];

/** Ends a session or run that another process has, or that nobody has any more; false if it had ended. */
export async function cancelElsewhere(
  { runtime: { store }, feeds }: Pick<Desk, "runtime" | "feeds">,
  request: { sessionId: string; id: string },
): Promise<boolean> {
  if (store.holderOf(request.sessionId) !== null) {
    store.askToStop(request);
    return true;
  }
  const outcome = await cancelUnheld(store, request, PERSON);
  feeds.asksChanged(request.sessionId);
  return outcome !== false;
}

/** Ends a run that is alive here, and says no unless the wish outlives this process. */
export function cancelHere({ runtime }: Desk, request: { sessionId: string; id: string }): boolean {
  try {
    runtime.store.askToStop(request);
  } catch (thrown) {
    if (runtime.cancel(request.id)) notKept(thrown);
    throw thrown;
  }
  return runtime.cancel(request.id);
}

/** What is stopped here but not on disk would go on after a restart, and nobody may be told that it is done. */
function notKept(thrown: unknown): never {
  throw new RetinueError(
    "store",
    `it was stopped, but that is not written yet: ${messageOf(thrown)}`,
    "free some disk space and cancel it again; if the server stops before, it goes on at the next start",
    { cause: thrown },
  );
}

async function start(
  desk: Desk,
  { task, agent, model, paced }: Omit<StartRequest, "sessionId">,
  session: SessionRow | null,
): Promise<Started> {
  mustBeWritable(desk);
  if (session) refuseOpen(desk, session);
  await desk.project.reload();
  const { sessionId, runId, result } = await desk.runtime.start({
    agent: agent ?? (session && firstAgent(desk, session)) ?? desk.agent,
    task,
    ...((model ?? desk.model) !== undefined && { model: model ?? desk.model }),
    ...(session && { session: session.session_id }),
  });
  if (paced) desk.paced.add(sessionId);
  // How it ends is in the record, for whoever asks.
  result.catch(() => {}).finally(() => desk.paced.delete(sessionId));
  // Whoever is told of it may ask for it at once.
  await desk.runtime.store.written().catch((thrown) => {
    desk.runtime.cancel(sessionId);
    throw thrown;
  });
  return { sessionId, runId };
}

/** A conversation goes on with the agent that began it, if its name is still that of an agent or of a broken definition. */
function firstAgent({ runtime, project }: Desk, { session_id: id }: SessionRow): string | null {
  const name = runtime.store.sessionFigures(id).agent;
  const { registry } = project.current();
  return name !== null && (registry.get(name) ?? registry.getBroken(name)) ? name : null;
}

function refuseHeld({ runtime }: Desk, { session_id: id }: SessionRow): void {
  if (runtime.liveRoots(id) !== null) throw new Conflict("it is being worked on already");
  const holder = runtime.store.holderOf(id);
  if (holder !== null) throw new Conflict(`${holder} works on it`, "wait for it, or cancel it first");
}

function refuseOpen(desk: Desk, session: SessionRow): void {
  refuseHeld(desk, session);
  if (session.status === "running")
    throw new Conflict("its process ended in the middle of a task", "resume it first, or cancel it");
}
