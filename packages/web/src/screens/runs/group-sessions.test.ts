import type { SessionCard } from "@retinue/core/schema/api/session";
import { groupSession, nameSessionStatus } from "@retinue/core/show/standing";
import { expect, test } from "vitest";
import { countGroups, listLines, workedMs } from "./group-sessions.ts";

function card(id: string, fields: Partial<SessionCard>): SessionCard {
  return {
    session_id: id,
    title: id,
    project: "",
    workspace: "",
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    status: "completed",
    agent: "main",
    runs: 1,
    agents: 1,
    depth: 0,
    tokens: 0,
    cost_usd: 0,
    duration_ms: 0,
    state: "completed",
    holder: null,
    asks: 0,
    ...fields,
  };
}

test("sessions that wait, lost their process, or ask while running need the person", () => {
  expect(groupSession({ state: "waiting", asks: 0 })).toBe("needsYou");
  expect(groupSession({ state: "interrupted", asks: 0 })).toBe("needsYou");
  expect(groupSession({ state: "running", asks: 1 })).toBe("needsYou");
  expect(groupSession({ state: "running", asks: 0 })).toBe("running");
  expect(groupSession({ state: "failed", asks: 0 })).toBe("done");
  expect(nameSessionStatus({ state: "running", asks: 1 })).toBe("waiting");
});

test("groups come in order of importance, empty ones are left out", () => {
  const sessions = [card("a", {}), card("b", { state: "running" }), card("c", {})];
  const words = listLines(sessions, null).map((line) =>
    line.kind === "head" ? `${line.name} ${line.count}` : line.card.session_id,
  );
  expect(words).toEqual(["Running 1", "b", "Done 2", "a", "c"]);
  expect(listLines(sessions, "needsYou")).toEqual([]);
  expect(countGroups(sessions)).toEqual({ needsYou: 0, running: 1, done: 2 });
});

test("the time of a running session grows from when it was taken up", () => {
  const takenUp = Date.parse("2026-01-01T00:00:00.000Z");
  const running = card("a", { state: "running", duration_ms: 1_000 });
  expect(workedMs(running, takenUp + 5_000)).toBe(6_000);
  expect(workedMs({ ...running, state: "completed" }, takenUp + 5_000)).toBe(1_000);
});
