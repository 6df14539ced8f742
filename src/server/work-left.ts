import { messageOf } from "../schema/error.ts";
import type { SessionRow } from "../schema/record.ts";
import type { Desk } from "./desk.ts";
import { projectOf } from "./own-project.ts";

/** Who a server is for the sessions it leaves open; the runtime's `keeper`. */
export const KEEPER = "server";

/** What became of the sessions that a server had left. */
export type WorkLeft = {
  readonly resumed: readonly string[];
  readonly failed: readonly { sessionId: string; message: string }[];
};

const MOST = 1_000;

/**
 * Goes on with what an earlier server of this project left in the middle, whether it was stopped or killed. One that cannot
 * go on stays as it is and hinders no other.
 */
export async function resumeLeft(desk: Pick<Desk, "project" | "runtime">): Promise<WorkLeft> {
  const { runtime } = desk;
  const { store } = runtime;
  const left = store
    .searchSessions({ project: projectOf(desk), status: "running", limit: MOST })
    .sessions.filter((row) => keeperOf(row) === KEEPER && store.holderOf(row.session_id) === null);
  const resumed: string[] = [];
  const failed: { sessionId: string; message: string }[] = [];
  for (const { session_id: sessionId } of left) {
    try {
      await runtime.resume(sessionId);
      resumed.push(sessionId);
    } catch (thrown) {
      failed.push({ sessionId, message: messageOf(thrown) });
    }
  }
  return { resumed, failed };
}

function keeperOf({ metadata_json: json }: SessionRow): unknown {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return typeof value === "object" && value !== null && "keeper" in value ? value.keeper : undefined;
  } catch {
    return undefined;
  }
}
