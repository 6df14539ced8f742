import type { RetinueEvent } from "@retinue/core/schema/event";
import { showCost, showCount, showDuration } from "@retinue/core/show/measures";
import { showStatus } from "@retinue/core/show/standing";
import { cutToLine } from "@retinue/core/text/plain-text";
import { dropSelectors } from "../../text-layout.ts";
import { shortenInput } from "../../tree/run-tree.ts";
import type { TuiState } from "./tui-state.ts";
import { addEntry, MOST_STREAMED, replaceEntry, type TalkEntry } from "./tui-state.ts";

type Of<Type extends RetinueEvent["type"]> = Extract<RetinueEvent, { type: Type }>;

const MAX_INPUT = 200;
/** Denials that nobody uttered: what ended with the run is told by its end. */
const STOPS = new Set(["the stop of the run", "the end of the program"]);
/** Calls that the tree shows better. */
const SHOWN_BY_TREE = new Set(["delegate", "delegate_many", "collect_results"]);

/** The state after an event of the runtime; without one, after a message that could not be delivered to `unheardBy`. */
export function takeEvent(state: TuiState, event: RetinueEvent | null, unheardBy?: string): TuiState {
  if (event === null) return unheardBy === undefined ? state : withUnread(state, unheardBy);
  switch (event.type) {
    case "run.started":
      return started(state, event);
    case "run.ended":
      return ended(state, event);
    case "text.streamed":
      return streamed(state, event);
    case "turn.ended":
      return turnEnded(state, event);
    case "call.started":
      return called(state, event);
    case "call.ended":
      return callEnded(state, event);
    case "run.steered":
      return { ...state, entries: markSteered(state.entries, event.runId, "read", event.text) };
    case "compliance.failed":
      return noticed(state, "error", event.message);
    case "notice.raised":
      return event.level === "info" ? state : noticed(state, event.level, event.message);
    case "approval.settled": {
      if (event.allowed || STOPS.has(event.by)) return state;
      const note = event.note ? `: ${event.note}` : "";
      return noticed(state, "warning", `denied by ${event.by}${note}`);
    }
    default:
      return state;
  }
}

function started(state: TuiState, event: Of<"run.started">): TuiState {
  const { runId, sessionId, agent, parentRunId } = event;
  const alive = new Map(state.alive).set(runId, { sessionId, agent, isRoot: parentRunId === null });
  const isOurs = parentRunId === null && state.starting;
  if (!isOurs) return { ...state, alive };
  const facts = { ...state.facts, model: event.model };
  return { ...state, alive, facts, rootRunId: runId, sessionId, starting: false };
}

function ended(state: TuiState, event: Of<"run.ended">): TuiState {
  const alive = new Map(state.alive);
  const run = alive.get(event.runId);
  alive.delete(event.runId);
  const next = withUnread({ ...state, alive }, event.runId);
  if (!run?.isRoot) return next;
  const { result } = event;
  const text = (result.details || result.summary).trim();
  const said = next.entries.findLast((entry) => entry.kind === "agent" && entry.runId === event.runId);
  const isNew =
    result.status === "completed" && text !== "" && !(said?.kind === "agent" && said.text.trim() === text);
  let entries = settled(next.entries, event.runId);
  if (isNew) entries = addEntry(entries, agentEntry(event.runId, event.agent, text, false));
  const facts = `${showDuration(result.duration_ms)} · ${showCount(result.tokens.subtree, "token")} · ${showCost(result.cost_usd.subtree)}`;
  const why =
    result.error && result.error.message !== result.status
      ? ` · ${cutToLine(result.error.message, 1_000)}`
      : "";
  const good = result.success;
  const line = `${dropSelectors(showStatus(result.status, result.partial))} ${event.agent} · ${facts}${why}`;
  const { tokens, costUsd, tasks } = next.spent;
  const cost = result.cost_usd.subtree;
  return {
    ...next,
    entries: addEntry(entries, { kind: "ended", good, text: line }),
    spent: {
      tokens: tokens + result.tokens.subtree,
      costUsd: costUsd === null || cost === null ? null : costUsd + cost,
      tasks: tasks + 1,
    },
    ...(next.rootRunId === event.runId && { rootRunId: null }),
    ...(next.selectedRunId === event.runId && { selectedRunId: null }),
  };
}

function streamed(state: TuiState, { runId, text }: Of<"text.streamed">): TuiState {
  const run = state.alive.get(runId);
  if (!run?.isRoot) return state;
  const isOpen = (entry: TalkEntry) => entry.kind === "agent" && entry.runId === runId && entry.streaming;
  if (!state.entries.some(isOpen))
    return { ...state, entries: addEntry(state.entries, agentEntry(runId, run.agent, text, true)) };
  const entries = replaceEntry(state.entries, isOpen, (entry) =>
    entry.kind === "agent" && entry.text.length < MOST_STREAMED
      ? { ...entry, text: entry.text + text }
      : entry,
  );
  return { ...state, entries };
}

/** The whole text of a turn stands for what was streamed of it; a turn that failed takes its text back. */
function turnEnded(state: TuiState, { runId, text, error }: Of<"turn.ended">): TuiState {
  const run = state.alive.get(runId);
  if (!run?.isRoot) return state;
  const isOpen = (entry: TalkEntry) => entry.kind === "agent" && entry.runId === runId && entry.streaming;
  const final = error || text.trim() === "" ? null : agentEntry(runId, run.agent, text, false);
  if (state.entries.some(isOpen))
    return { ...state, entries: replaceEntry(state.entries, isOpen, () => final) };
  return final ? { ...state, entries: addEntry(state.entries, final) } : state;
}

function called(state: TuiState, { runId, callId, tool, input }: Of<"call.started">): TuiState {
  if (!state.alive.get(runId)?.isRoot || SHOWN_BY_TREE.has(tool)) return state;
  const text = `${tool} ${shortenInput(parseInput(input))}`.trimEnd();
  return { ...state, entries: addEntry(state.entries, { kind: "call", runId, callId, text }) };
}

/** Models hand inputs over as JSON. */
function parseInput(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function callEnded(state: TuiState, event: Of<"call.ended">): TuiState {
  if (event.outcome === "ok" || event.outcome === "cached") return state;
  const entries = replaceEntry(
    state.entries,
    (entry) => entry.kind === "call" && entry.runId === event.runId && entry.callId === event.callId,
    (entry) =>
      entry.kind === "call"
        ? { ...entry, text: `${entry.text} — ${event.outcome}: ${cutToLine(event.summary, MAX_INPUT)}` }
        : entry,
  );
  return { ...state, entries };
}

function agentEntry(runId: string, agent: string, text: string, streaming: boolean): TalkEntry {
  return { kind: "agent", runId, agent, text, streaming };
}

function settled(entries: readonly TalkEntry[], runId: string): readonly TalkEntry[] {
  return replaceEntry(
    entries,
    (entry) => entry.kind === "agent" && entry.runId === runId && entry.streaming,
    (entry) => (entry.kind === "agent" ? { ...entry, streaming: false } : entry),
  );
}

function noticed(state: TuiState, level: "warning" | "error", text: string): TuiState {
  return {
    ...state,
    entries: addEntry(state.entries, { kind: "notice", level, text: cutToLine(text, 2_000) }),
  };
}

/** A run that ended leaves messages unread that it was not given any more. */
function withUnread(state: TuiState, runId: string): TuiState {
  return { ...state, entries: markSteered(state.entries, runId, "unread") };
}

function markSteered(
  entries: readonly TalkEntry[],
  runId: string,
  fate: "read" | "unread",
  text?: string,
): readonly TalkEntry[] {
  const isMeant = (entry: TalkEntry) =>
    entry.kind === "person" &&
    entry.to?.runId === runId &&
    entry.to.fate === "sent" &&
    (text === undefined || text.includes(entry.text));
  if (!entries.some(isMeant)) return entries;
  return entries.map((entry) =>
    isMeant(entry) && entry.kind === "person" && entry.to ? { ...entry, to: { ...entry.to, fate } } : entry,
  );
}
