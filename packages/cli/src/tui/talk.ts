import { STOPPED } from "@retinue/core/host/approvals";
import type { EventNamed, RetinueEvent } from "@retinue/core/schema/event";
import { showCost, showCount, showDuration } from "@retinue/core/show/measures";
import { showStatus } from "@retinue/core/show/standing";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import { dropSelectors } from "../text-layout.ts";
import { shortenInput } from "../tree/run-tree.ts";
import { makeSpan, type Style, type StyledSpan, wrapSpans } from "./spans.ts";
import { addEntry, MOST_STREAMED, replaceEntry, type TalkEntry, type TuiState } from "./tui-state.ts";

const MAX_INPUT = 200;
/** Denials that no person made: the end of the run reports them. */
const STOPS = new Set([STOPPED.by, "the end of the program"]);
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

function started(state: TuiState, event: EventNamed<"run.started">): TuiState {
  const { runId, sessionId, agent, parentRunId } = event;
  const alive = new Map(state.alive).set(runId, { sessionId, agent, isRoot: parentRunId === null });
  const isOurs = parentRunId === null && state.starting;
  if (!isOurs) return { ...state, alive };
  const facts = { ...state.facts, model: event.model };
  return { ...state, alive, facts, rootRunId: runId, sessionId, starting: false };
}

function ended(state: TuiState, event: EventNamed<"run.ended">): TuiState {
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
  let entries = replaceEntry(next.entries, matchStream(event.runId), (entry) => ({
    ...entry,
    streaming: false,
  }));
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

function streamed(state: TuiState, { runId, text }: EventNamed<"text.streamed">): TuiState {
  const run = state.alive.get(runId);
  if (!run?.isRoot) return state;
  const isOpen = matchStream(runId);
  if (!state.entries.some(isOpen))
    return { ...state, entries: addEntry(state.entries, agentEntry(runId, run.agent, text, true)) };
  const entries = replaceEntry(state.entries, isOpen, (entry) =>
    entry.kind === "agent" && entry.text.length < MOST_STREAMED
      ? { ...entry, text: entry.text + text }
      : entry,
  );
  return { ...state, entries };
}

/** The whole text of a turn replaces what was streamed of it; a failed turn removes its text. */
function turnEnded(state: TuiState, { runId, text, error }: EventNamed<"turn.ended">): TuiState {
  const run = state.alive.get(runId);
  if (!run?.isRoot) return state;
  const isOpen = matchStream(runId);
  const final = error || text.trim() === "" ? null : agentEntry(runId, run.agent, text, false);
  if (state.entries.some(isOpen))
    return { ...state, entries: replaceEntry(state.entries, isOpen, () => final) };
  return final ? { ...state, entries: addEntry(state.entries, final) } : state;
}

function called(state: TuiState, { runId, callId, tool, input }: EventNamed<"call.started">): TuiState {
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

function callEnded(state: TuiState, event: EventNamed<"call.ended">): TuiState {
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

/** Finds the text that a run is still writing. */
function matchStream(runId: string): (entry: TalkEntry) => boolean {
  return (entry) => entry.kind === "agent" && entry.runId === runId && entry.streaming;
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

const drawnEntries = new WeakMap<TalkEntry, { width: number; lines: StyledSpan[][] }>();

/** All lines of the conversation. */
export function drawEntries(entries: readonly TalkEntry[], width: number): StyledSpan[][] {
  const all: StyledSpan[][] = [];
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && !isClose(entries[index - 1], entry)) all.push([]);
    all.push(...drawKeptEntry(entry, width));
  }
  return all;
}

/** There is no blank line between calls, or between notices. */
function isClose(before: TalkEntry | undefined, entry: TalkEntry): boolean {
  if (entry.kind === "call") return before?.kind === "call";
  return entry.kind === "notice" && before?.kind === "notice";
}

function drawKeptEntry(entry: TalkEntry, width: number): StyledSpan[][] {
  const found = drawnEntries.get(entry);
  if (found?.width === width) return found.lines;
  const lines = drawEntry(entry, width);
  drawnEntries.set(entry, { width, lines });
  return lines;
}

function drawEntry(entry: TalkEntry, width: number): StyledSpan[][] {
  const inner = Math.max(1, width - 2);
  switch (entry.kind) {
    case "person": {
      const lines = wrapText(entry.text, inner);
      const to = entry.to && `→ ${entry.to.agent}${FATES[entry.to.fate]}`;
      return [
        ...behind(makeSpan("❯ ", "accent"), lines),
        ...(to ? [[makeSpan("  "), makeSpan(to, "dim")]] : []),
      ];
    }
    case "agent":
      return behind(makeSpan("● ", "good"), drawMarkdown(entry.text || "…", inner));
    case "call":
      return behind(makeSpan("  "), wrapText(entry.text, inner, "dim").slice(0, 2));
    case "ended":
      return behind(makeSpan("  "), wrapText(entry.text, inner, entry.good ? "dim" : "bad"));
    case "notice":
      return behind(NOTICE_SIGNS[entry.level], wrapText(entry.text, inner));
    case "output":
      return behind(makeSpan("  "), wrapText(entry.text, inner));
  }
}

const FATES = {
  sent: " · it reads this at its next turn",
  read: " · read",
  unread: " · not read: it had ended",
};
const NOTICE_SIGNS = {
  info: makeSpan("· ", "dim"),
  warning: makeSpan("! ", "warn"),
  error: makeSpan("✗ ", "bad"),
};

/** Lines behind a margin, which is blank from the second one on unless it repeats. */
function behind(margin: StyledSpan, lines: readonly StyledSpan[][], repeats = false): StyledSpan[][] {
  const blank = makeSpan(" ".repeat(margin.text.length));
  return lines.map((line, index) => [index === 0 || repeats ? margin : blank, ...line]);
}

/** Text as it is, broken at the width. */
export function wrapText(text: string, width: number, style?: Style): StyledSpan[][] {
  return stripControls(text)
    .replaceAll("\t", "    ")
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrapSpans([makeSpan(line, style)], width));
}

/** Markdown as lines of at most `width` columns: headings, lists, quotes, code and emphasis; everything else as it is. */
export function drawMarkdown(source: string, width: number): StyledSpan[][] {
  const lines: StyledSpan[][] = [];
  let fence: string | undefined;
  for (const line of stripControls(source).replaceAll("\t", "    ").trimEnd().split("\n")) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined && mark) {
      fence = mark;
      continue;
    }
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      else lines.push(...behind(makeSpan("  "), wrapSpans([makeSpan(line, "code")], Math.max(1, width - 2))));
      continue;
    }
    lines.push(...drawLine(line, width));
  }
  return lines;
}

const MOST_KEPT = 5_000;
const drawnLines = new Map<string, StyledSpan[][]>();

/** A line as it was drawn before, if it was: streamed text grows at its end and is drawn again and again. */
function drawLine(line: string, width: number): StyledSpan[][] {
  const key = `${width} ${line}`;
  const known = drawnLines.get(key);
  if (known) return known;
  const drawn = drawNewLine(line, width);
  if (drawnLines.size >= MOST_KEPT) drawnLines.clear();
  drawnLines.set(key, drawn);
  return drawn;
}

function drawNewLine(line: string, width: number): StyledSpan[][] {
  const heading = /^#{1,6}\s+(.*)$/.exec(line);
  if (heading) return wrapSpans(inline(heading[1] ?? "", "bold"), width);
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return [[makeSpan("─".repeat(Math.min(width, 20)), "dim")]];
  const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/.exec(line);
  if (item) {
    const [, blanks = "", sign = "", text = ""] = item;
    const bullet = /^\d/.test(sign) ? sign : "•";
    return indented(inline(text), makeSpan(`${blanks.slice(0, 12)}${bullet} `, "dim"), width);
  }
  const quote = /^>\s?(.*)$/.exec(line);
  if (quote) return indented(inline(quote[1] ?? "", "dim"), makeSpan("│ ", "dim"), width, true);
  const margin = /^ */.exec(line)?.[0].slice(0, 12) ?? "";
  return margin === "" ? wrapSpans(inline(line), width) : indented(inline(line), makeSpan(margin), width);
}

/** Text broken to fit behind a margin. */
function indented(
  spans: readonly StyledSpan[],
  margin: StyledSpan,
  width: number,
  repeats = false,
): StyledSpan[][] {
  const [first, ...rest] = spans;
  const isCode = first?.style === "code" && rest.length === 0;
  const text = first && !isCode ? [{ ...first, text: first.text.trimStart() }, ...rest] : spans;
  return behind(margin, wrapSpans(text, Math.max(1, width - margin.text.length)), repeats);
}

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\[([^\]]+)\]\((\S+?)\)/g;

/** Longer lines are not prose, and matching marks in them could take too long. */
const MOST_INLINE = 2_000;

/** Emphasis within a line. A link shows where it leads: a name alone could lie. */
function inline(text: string, base?: Style): StyledSpan[] {
  const plain = (piece: string): StyledSpan[] => (piece === "" ? [] : [makeSpan(piece, base)]);
  if (text.length > MOST_INLINE) return plain(text);
  const spans: StyledSpan[] = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, strong, strongToo, label, target] = found;
    spans.push(...plain(text.slice(at, found.index)));
    if (code !== undefined) spans.push(makeSpan(code, "code"));
    else if (label !== undefined) spans.push(...plain(label === target ? label : `${label} (${target})`));
    else spans.push(makeSpan(strong ?? strongToo ?? "", "bold"));
    at = found.index + whole.length;
  }
  return [...spans, ...plain(text.slice(at))];
}
