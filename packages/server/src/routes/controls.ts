import {
  Controlled,
  Started,
  StartRequest,
  SteerRequest,
  TellRequest,
  TellResult,
} from "@retinue/core/schema/api/session";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { cancelUnheld } from "@retinue/core/session/cancel-recorded";
import { chooseModel, mustBeWritable, ownRun, ownSession, type ServerDesk } from "../desk.ts";
import { PERSON } from "../feed/persons-desk.ts";
import { Conflict } from "../http/http-errors.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";

/** Begins, continues and ends sessions; ends, pauses and steers runs. */
export const controlRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "post",
    path: "/api/sessions",
    summary: "Starts a task in a session of its own, or goes on in one that has ended.",
    body: StartRequest,
    answer: Started,
    async handle({ body }, desk) {
      const session = body.sessionId === undefined ? null : await ownSession(desk, body.sessionId);
      return start(desk, body, session);
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/sessions/:id/messages",
    summary:
      "Tells a session something: its running task hears it at its next turn, or a new task begins with it.",
    body: TellRequest,
    answer: TellResult,
    async handle({ params: { id }, body: { text: said, ...chosen } }, desk) {
      const session = await ownSession(desk, id);
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
    summary: "Ends a session with everything in it, whichever process works on it.",
    answer: Controlled,
    async handle({ params: { id } }, desk) {
      const session = await ownSession(desk, id);
      const { runtime } = desk;
      if (session.status !== "running") return { done: false };
      const isStopped = runtime.cancel(id);
      // It may also have been stopped before, with only that still to be written.
      await runtime.record.written().catch(notKept);
      const { status } = await ownSession(desk, id);
      if (isStopped || status !== "running") return { done: isStopped || status === "cancelled" };
      return { done: await cancelElsewhere(desk, { sessionId: id, id }) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/sessions/:id/resume",
    summary: "Goes on with a session whose process ended in the middle of it.",
    answer: Started,
    async handle({ params: { id } }, desk) {
      const session = await ownSession(desk, id);
      await mustBeWritable(desk);
      await refuseHeld(desk, session);
      if (session.status !== "running") throw new Conflict(`it has ended (${session.status})`);
      await desk.project.reload();
      const { sessionId, runId } = await desk.runtime.resume(id);
      return { sessionId, runId };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/runs/:id/cancel",
    summary: "Ends a run with everything below it, whichever process works on it.",
    answer: Controlled,
    async handle({ params: { id } }, desk) {
      const { row, session } = await ownRun(desk, id);
      const request = { sessionId: session.session_id, id };
      const isLive = desk.runtime.liveRoots(session.session_id) !== null;
      if (isLive && row.closed_seq === null && (await cancelHere(desk, request))) return { done: true };
      if (row.closed_seq !== null || session.status !== "running") return { done: false };
      return { done: await cancelElsewhere(desk, request) };
    },
  }),
  control("pause", "Holds a run and everything below it at their next turn.", ({ runtime }, id) =>
    runtime.pause(id),
  ),
  control("unpause", "Lets a run and everything below it go on.", ({ runtime }, id) => runtime.unpause(id)),
  defineRoute({
    method: "post",
    path: "/api/runs/:id/steer",
    summary: "Tells a run something, which it reads at its next turn.",
    body: SteerRequest,
    answer: Controlled,
    handle: ({ params: { id }, body }, desk) =>
      onLive(desk, id, ({ runtime }) => runtime.steer(id, body.text)),
  }),
];

/** Ends a session or run that another process has, or that no process has any more; false if it had ended. */
async function cancelElsewhere(
  { runtime: { record }, feeds }: Pick<ServerDesk, "runtime" | "feeds">,
  request: { sessionId: string; id: string },
): Promise<boolean> {
  if ((await record.findHolder(request.sessionId)) !== null) {
    await record.askToStop(request);
    return true;
  }
  const outcome = await cancelUnheld(record, request, PERSON);
  feeds.asksChanged(request.sessionId);
  return outcome !== false;
}

/** Ends a run that is alive here, and says no unless the wish outlives this process. */
async function cancelHere(
  { runtime }: ServerDesk,
  request: { sessionId: string; id: string },
): Promise<boolean> {
  try {
    await runtime.record.askToStop(request);
  } catch (thrown) {
    if (runtime.cancel(request.id)) notKept(thrown);
    throw thrown;
  }
  return runtime.cancel(request.id);
}

/** What is stopped here but not on disk would be resumed after a restart, and the client must not be told that it is done. */
function notKept(thrown: unknown): never {
  throw new RetinueError(
    "store",
    `it was stopped, but that is not written yet: ${messageOf(thrown)}`,
    "free some disk space and cancel it again; if the server stops before, it goes on at the next start",
    { cause: thrown },
  );
}

async function start(
  desk: ServerDesk,
  { task, agent, model, paced }: Omit<StartRequest, "sessionId">,
  session: SessionRow | null,
): Promise<Started> {
  await mustBeWritable(desk);
  if (session) await refuseOpen(desk, session);
  await desk.project.reload();
  const { sessionId, runId, result } = await desk.runtime.start({
    agent: agent ?? (session && (await firstAgent(desk, session))) ?? desk.agent,
    task,
    ...chooseModel(desk, model),
    ...(session && { session: session.session_id }),
  });
  if (paced) desk.paced.add(sessionId);
  // How it ends is in the record.
  result.catch(() => {}).finally(() => desk.paced.delete(sessionId));
  // The client may ask for it as soon as it is told.
  await desk.runtime.record.written().catch((thrown) => {
    desk.runtime.cancel(sessionId);
    throw thrown;
  });
  return { sessionId, runId };
}

/** A conversation continues with the agent that began it, if its name is still that of an agent or of a broken definition. */
async function firstAgent(
  { runtime, project }: ServerDesk,
  { session_id: id }: SessionRow,
): Promise<string | null> {
  const name = (await runtime.record.readFigures(id)).agent;
  const { registry } = project.current();
  return name !== null && (registry.get(name) ?? registry.getBroken(name)) ? name : null;
}

async function refuseHeld({ runtime }: ServerDesk, { session_id: id }: SessionRow): Promise<void> {
  if (runtime.liveRoots(id) !== null) throw new Conflict("it is being worked on already");
  const holder = await runtime.record.findHolder(id);
  if (holder !== null) throw new Conflict(`${holder} works on it`, "wait for it, or cancel it first");
}

async function refuseOpen(desk: ServerDesk, session: SessionRow): Promise<void> {
  await refuseHeld(desk, session);
  if (session.status === "running")
    throw new Conflict("its process ended in the middle of a task", "resume it first, or cancel it");
}

function control(name: string, summary: string, act: (desk: ServerDesk, runId: string) => boolean): ApiRoute {
  return defineRoute({
    method: "post",
    path: `/api/runs/:id/${name}`,
    summary,
    answer: Controlled,
    handle: ({ params: { id } }, desk) => onLive(desk, id, () => act(desk, id)),
  });
}

/** Only a run of this process can be held or told anything. */
async function onLive(
  desk: ServerDesk,
  runId: string,
  act: (desk: ServerDesk) => boolean,
): Promise<Controlled> {
  const { row, session } = await ownRun(desk, runId);
  if (act(desk)) return { done: true };
  if (row.closed_seq !== null || session.status !== "running")
    throw new Conflict(`the run has ended (${row.status})`);
  if (desk.runtime.liveRoots(session.session_id) !== null)
    throw new Conflict("the run is just beginning or ending", "try again in a moment");
  const holder = await desk.runtime.record.findHolder(session.session_id);
  if (holder === null) throw new Conflict("nobody works on its session", "resume the session first");
  throw new Conflict(`${holder} works on its session, and only that process can do this`);
}
