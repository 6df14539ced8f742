import type { SessionCard, SessionList } from "../../schema/api/session.ts";
import type { SessionState } from "../../schema/inspect/trace.ts";
import type { Desk } from "../desk.ts";
import { projectOf } from "../own-project.ts";
import { sessionCard } from "./session-card.ts";

/** Groups of states that the list of runs is divided into. */
export const GROUPS = ["needsYou", "running", "done"] as const;

/** Which sessions of the project are wanted. */
export type WantedSessions = {
  search?: string | undefined;
  state?: SessionState | (typeof GROUPS)[number] | undefined;
  sinceMs?: number | undefined;
  limit: number;
};

/** All that have not ended are looked at for one of the states that only a look can tell. */
const OPEN: readonly string[] = ["needsYou", "running", "waiting", "interrupted"];

/** Finds sessions of this project, the last changed first. */
export function findSessions(
  desk: Pick<Desk, "runtime" | "project">,
  { search, state, sinceMs, limit }: WantedSessions,
): SessionList {
  const isOpen = state !== undefined && OPEN.includes(state);
  const isEnded = state !== undefined && state !== "done" && !isOpen;
  const { sessions, searchedOnly } = desk.runtime.store.searchSessions({
    project: projectOf(desk),
    // One more says whether there are more.
    limit: isOpen ? -1 : limit + 1,
    ...(search !== undefined && { search }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(isOpen && { status: "running" as const }),
    ...(state === "done" && { status: "ended" as const }),
    ...(isEnded && { status: state as Exclude<SessionState, "waiting" | "interrupted"> }),
  });
  const cards: SessionCard[] = [];
  for (const row of sessions) {
    if (cards.length > limit) break;
    const card = sessionCard(desk, row);
    if (fits(card, state)) cards.push(card);
  }
  return {
    sessions: cards.slice(0, limit),
    ...(cards.length > limit && { hasMore: true }),
    ...(searchedOnly !== undefined && { searchedOnly }),
  };
}

/** What waits for a person's word, or has lost its process, needs somebody; everything else that is open is at work. */
function fits({ state, asks }: SessionCard, wanted: WantedSessions["state"]): boolean {
  const needsYou = asks > 0 || state === "waiting" || state === "interrupted";
  switch (wanted) {
    case undefined:
    case "done":
      return true;
    case "needsYou":
      return needsYou;
    case "running":
      return state === "running" && !needsYou;
    default:
      return state === wanted;
  }
}
