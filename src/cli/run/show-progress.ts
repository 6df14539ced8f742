import type { Listener } from "../../runtime/event-bus.ts";
import type { RetinueEvent, WaitingOn } from "../../schema/event.ts";
import { countOf, showCost, showDuration, statusLabel } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";

const MAX_TASK = 70;
/** A call that took longer than this is reported again when it ends. */
const LONG_CALL_MS = 2_000;
/** Waits that every run has all the time are no news. */
const WORTH_TELLING: ReadonlySet<WaitingOn> = new Set(["children", "approval", "provider", "pause", "store"]);

/** A run, and for what it was last said to wait in its present turn. */
type Seen = { agent: string; depth: number; waiting: WaitingOn | null };

/** Tells a person on stderr what happens, one line each, indented by depth. */
export function createProgress(terminal: Terminal): Listener {
  const runs = new Map<string, Seen>();
  return (event) => {
    if (event.type === "run.started")
      runs.set(event.runId, { agent: event.agent, depth: event.depth, waiting: null });
    const run = "runId" in event && event.runId !== undefined ? runs.get(event.runId) : undefined;
    if (run && event.type === "turn.started") run.waiting = null;
    const line = run && describe(event, run);
    if (run && line) terminal.tell(`${"  ".repeat(run.depth)}${line}`);
    if (event.type === "run.ended") runs.delete(event.runId);
  };
}

/** What a person must see even if nothing else is shown. */
export function createNotices(terminal: Terminal): Listener {
  return (event) => {
    if (event.type === "compliance.failed") terminal.tell(`❌ ${plainLine(event.message, 1_000)}`);
    else if (event.type === "notice.raised" && event.level !== "info") {
      terminal.tell(`${event.level}: ${plainLine(event.message, 1_000)}`);
    } else if (event.type === "approval.settled" && !event.allowed) {
      const note = event.note ? `: ${plainLine(event.note, 500)}` : "";
      const by = event.by === "nobody" ? "nobody is there to ask" : `by ${plainLine(event.by, 100)}`;
      terminal.tell(`🚫 denied, ${by}${note}`);
    } else if (event.type === "approval.requested") {
      const chain = event.chain.join(" > ");
      terminal.tell(`⏸ ${chain} asks to use ${event.tool}: ${plainLine(event.reason, 300)}`);
    }
  };
}

function describe(event: RetinueEvent, run: Seen): string | undefined {
  switch (event.type) {
    case "run.started": {
      const again = event.attempt > 0 ? ` (retry ${event.attempt})` : "";
      return `▶ started ${run.agent}${again} [${event.model}] ${plainLine(event.task, MAX_TASK)}`;
    }
    case "run.ended": {
      const { status, partial, duration_ms, tokens, cost_usd, bailout_reason, error } = event.result;
      const facts = `${showDuration(duration_ms)} · ${countOf(tokens.subtree, "token")} · ${showCost(cost_usd.subtree)}`;
      const why = bailout_reason ? ` · stopped by ${bailout_reason}` : "";
      const wrong = error ? ` · ${plainLine(error.message, 200)}` : "";
      return `${statusLabel(status, partial)} ${run.agent} ${facts}${why}${wrong}`;
    }
    case "run.waiting":
      return describeWaiting(event.on, run);
    case "phase.entered": {
      const { tools } = event.context;
      const plan = event.phase === "execute" ? ` with ${plainLine(tools.join(", "), MAX_TASK)}` : "";
      return `· ${run.agent}: phase ${event.phase}${plan}`;
    }
    case "call.started":
      return `· ${run.agent} calls ${event.tool} ${plainLine(textOf(event.input), MAX_TASK)}`;
    case "call.ended": {
      const good = event.outcome === "ok" || event.outcome === "cached";
      const took = showDuration(event.durationMs);
      if (good)
        return event.durationMs < LONG_CALL_MS
          ? undefined
          : `✅ ${event.outcome} ${run.agent}: ${event.tool} ${took}`;
      const icon = event.outcome === "denied" ? "🚫" : "❌";
      return `${icon} ${event.outcome} ${run.agent}: ${event.tool} ${took} ${plainLine(event.summary, 200)}`;
    }
    case "turn.ended":
      return (
        event.error && `❌ error ${run.agent}: a model call failed: ${plainLine(event.error.message, 200)}`
      );
    default:
      return undefined;
  }
}

/** Parallel calls end their waits one by one; a person needs to hear of it once a turn. */
function describeWaiting(on: WaitingOn | null, run: Seen): string | undefined {
  if (on === null || on === run.waiting || !WORTH_TELLING.has(on)) return undefined;
  run.waiting = on;
  return `⏸ waiting ${run.agent}: for ${WORDS[on]}`;
}

const WORDS: Readonly<Record<WaitingOn, string>> = {
  children: "sub-agents",
  approval: "approval",
  budget: "budget",
  slot: "a slot",
  provider: "the provider",
  pause: "the end of the pause",
  store: "the disk",
};

function textOf(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}
