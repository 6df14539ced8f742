import { systemClock } from "@retinue/core/budget/clock";
import { SessionTaken } from "@retinue/core/record/record";
import { messageOf } from "@retinue/core/schema/error";
import { readJsonObject } from "@retinue/core/schema/json-object";
import { type BackgroundPorts, readProjectFolder, type ServerDesk } from "./desk.ts";

/** Who a server is for the sessions it leaves open; the runtime's `keeper`. */
export const KEEPER = "server";

/** What became of the sessions that a server had left. */
type WorkLeft = {
  readonly resumed: readonly string[];
  readonly failed: readonly { sessionId: string; message: string }[];
  /** A process that lives, or may have died a moment ago, has these. */
  readonly held: readonly string[];
};

/** What the sessions are looked up and gone on with. */
type LeftDesk = Pick<ServerDesk, "project" | "runtime">;

const LOOK_MS = 2_000;
/** Longer than a lease lasts without its process: after that a holder is alive and keeps what it has. */
const MOST_LOOKS = 10;

/**
 * Takes up what an earlier server left, and looks again for a while at what that one still has because it is only just
 * stopping. Gives how to stop looking.
 */
export function takeUpLeft(
  desk: LeftDesk,
  { tell, onFault, clock = systemClock }: BackgroundPorts,
): () => void {
  let callOff: (() => void) | null = null;
  let isOver = false;
  const look = async (only: readonly string[] | undefined, looks: number): Promise<void> => {
    const { resumed, failed, held } = await resumeLeft(desk, only);
    if (isOver) return;
    if (resumed.length > 0) tell(`going on with what was left: ${nameSome(resumed)}`);
    for (const { sessionId, message } of failed) tell(`${sessionId} cannot go on: ${message}`);
    if (held.length > 0 && looks >= MOST_LOOKS)
      tell(`left with the processes that work on them: ${nameSome(held)}`);
    if (held.length === 0 || looks >= MOST_LOOKS) return;
    callOff = clock.timer(LOOK_MS, () => void look(held, looks + 1).catch(onFault));
  };
  look(undefined, 1).catch(onFault);
  return () => {
    isOver = true;
    callOff?.();
  };
}

/**
 * Goes on with what an earlier server of this project left in the middle, whether it was stopped or killed, or with some of
 * that. One that cannot be resumed stays as it is and does not stop the others.
 */
export async function resumeLeft(desk: LeftDesk, only?: readonly string[]): Promise<WorkLeft> {
  const { runtime } = desk;
  const { record } = runtime;
  const left = (
    await record.listSessions({ project: readProjectFolder(desk), status: "running", limit: -1 })
  ).sessions
    .filter(
      (row) =>
        readJsonObject(row.metadata_json).keeper === KEEPER && runtime.liveRoots(row.session_id) === null,
    )
    .map((row) => row.session_id)
    .filter((sessionId) => only === undefined || only.includes(sessionId));
  const resumed: string[] = [];
  const failed: { sessionId: string; message: string }[] = [];
  const held: string[] = [];
  for (const sessionId of left) {
    // Thousands may have been left, and the server answers meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    if ((await record.findHolder(sessionId)) !== null) {
      held.push(sessionId);
      continue;
    }
    try {
      await runtime.resume(sessionId);
      resumed.push(sessionId);
    } catch (thrown) {
      if (thrown instanceof SessionTaken) held.push(sessionId);
      else failed.push({ sessionId, message: messageOf(thrown) });
    }
  }
  return { resumed, failed, held };
}

const MOST_NAMED = 20;

function nameSome(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED;
  return `${ids.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
