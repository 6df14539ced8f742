import type { SessionCard } from "@retinue/core/schema/api/session";
import { groupSession, type SessionGroup } from "@retinue/core/show/standing";

/** The groups in the order in which they matter. */
export const GROUPS: readonly { value: SessionGroup; name: string }[] = [
  { value: "needsYou", name: "Needs you" },
  { value: "running", name: "Running" },
  { value: "done", name: "Done" },
];

/** One line of the list: the head of a group, or a session. */
export type GroupLine =
  | { kind: "head"; group: SessionGroup; name: string; count: number }
  | { kind: "session"; card: SessionCard };

/** How many sessions each group has. */
export function countGroups(sessions: readonly SessionCard[]): Readonly<Record<SessionGroup, number>> {
  const counts = { needsYou: 0, running: 0, done: 0 };
  for (const card of sessions) counts[groupSession(card)]++;
  return counts;
}

/** The lines of the list, empty groups left out; `only` keeps one group. */
export function listLines(sessions: readonly SessionCard[], only: SessionGroup | null): GroupLine[] {
  const byGroup = Map.groupBy(sessions, groupSession);
  const lines: GroupLine[] = [];
  for (const { value: group, name } of GROUPS) {
    const cards = byGroup.get(group);
    if (!cards || (only !== null && only !== group)) continue;
    lines.push({ kind: "head", group, name, count: cards.length });
    for (const card of cards) lines.push({ kind: "session", card });
  }
  return lines;
}

/** Milliseconds a session has worked so far; what is under way counts from when the session was taken up. */
export function workedMs(card: SessionCard, nowMs: number): number {
  const { duration_ms: ended, state, updated_at: takenUp } = card;
  return state === "running" ? ended + Math.max(0, nowMs - Date.parse(takenUp)) : ended;
}
