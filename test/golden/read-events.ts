import type { Line } from "./read-record.ts";
import type { RetinueEvent } from "./retinue.ts";

/** What depends on the number of a row, or is told by the line's place. */
const LEFT_OUT = new Set(["messageId", "atMs", "seq"]);

/**
 * The events as lines: those that are stored in the order of the session, or of each run if runs go on at once; the others,
 * whose place among them depends on the disk, in an order of their own by run and type.
 */
export function readEvents(
  events: readonly RetinueEvent[],
  { isParallel = false }: { isParallel?: boolean | undefined },
): Line[] {
  const runs = new Map<string, string>();
  for (const event of events) {
    if (event.type === "run.started") runs.set(event.runId, `${event.agent}: ${event.task}`);
  }
  const stored: [group: string, event: RetinueEvent][] = [];
  const live: [group: string, event: RetinueEvent][] = [];
  for (const event of joinTexts(events)) {
    const run =
      "runId" in event && event.runId !== undefined ? (runs.get(event.runId) ?? event.runId) : "session";
    if (event.seq !== undefined) stored.push([isParallel ? run : "", event]);
    // Who waits for a slot, and how far a call is, depends on who came first.
    else if (!(isParallel && (event.type === "run.waiting" || event.type === "call.progressed")))
      live.push([`${run} ${event.type}`, event]);
  }
  if (isParallel) sortCalls(stored);
  const sort = (list: typeof stored) =>
    list.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return [
    ...sort(stored).map(([, event]) => toLine("event", event)),
    ...sort(live).map(([, event]) => toLine("live event", event)),
  ];
}

/** Calls of one turn go on at once: their events between two turns are put in the order of their ids. */
function sortCalls(events: [group: string, event: RetinueEvent][]): void {
  const turns = new Map<string, number>();
  for (const each of events) {
    const [group, event] = each;
    if (event.type === "turn.started") turns.set(group, event.turn);
    const turn = String(turns.get(group) ?? 0).padStart(3, "0");
    const isCall = event.type.startsWith("call.") || event.type.startsWith("approval.");
    const place = event.type === "run.ended" ? 9 : isCall ? 2 : event.type.startsWith("run.") ? 3 : 1;
    each[0] = `${group} ${turn} ${place} ${isCall && "callId" in event ? event.callId : ""}`;
  }
}

/** Pieces of one text come as the network cuts them. */
function joinTexts(events: readonly RetinueEvent[]): RetinueEvent[] {
  const joined: RetinueEvent[] = [];
  const texts = new Map<string, { text: string }>();
  for (const event of events) {
    if (event.type !== "text.streamed" && event.type !== "reasoning.streamed") {
      joined.push(event);
      continue;
    }
    const key = `${event.type} ${event.runId} ${event.turn}`;
    const known = texts.get(key);
    if (known) known.text += event.text;
    else {
      const copy = { ...event };
      texts.set(key, copy);
      joined.push(copy);
    }
  }
  return joined;
}

function toLine(at: string, event: RetinueEvent): Line {
  const told = Object.entries(event).filter(([key]) => !LEFT_OUT.has(key));
  return { at, ...Object.fromEntries(told) };
}
