import type { Approval } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";

const MOST = 1_000;

/** Calls of a project's open sessions that wait for a person, the oldest first. */
export function openAsks(store: Pick<Store, "approvals" | "session">, project: string): Approval[] {
  return store.approvals({ open: true, limit: MOST }).filter(({ sessionId }) => {
    const session = store.session(sessionId);
    return session?.project === project && session.status === "running";
  });
}

/** How many there are. */
export function countAsks(store: Pick<Store, "approvals" | "session">, project: string): number {
  return openAsks(store, project).length;
}
