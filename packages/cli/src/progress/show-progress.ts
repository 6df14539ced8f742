import { STOPPED } from "@retinue/core/host/approvals";
import type { Listener } from "@retinue/core/host/event-bus";
import type { EventNamed, RetinueEvent, WaitingOn } from "@retinue/core/schema/event";
import { showCost, showCount, showDuration } from "@retinue/core/show/measures";
import { showStatus, WAITS } from "@retinue/core/show/standing";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Terminal } from "../terminal.ts";
import { sayAsk } from "../work/waiting.ts";

const MAX_TASK = 70;
const MAX_NAME = 80;
const MAX_ERROR = 200;
/** A call that took longer than this is reported again when it ends. */
const LONG_CALL_MS = 2_000;
/** Waits that every run has all the time are no news. */
const WORTH_TELLING: ReadonlySet<WaitingOn> = new Set(["children", "approval", "provider", "pause", "store"]);

/** A run, for what it was last said to wait in its present turn, and a failed model call that is not told yet. */
type Seen = { agent: string; depth: number; waiting: WaitingOn | null; trouble: string };

/**
 * Tells a person on stderr what happens, one line each, indented by depth. With `endsWithError` the error of the whole
 * task is told by somebody else.
 */
export function createProgress(terminal: Pick<Terminal, "tell">, { endsWithError = false } = {}): Listener {
  const runs = new Map<string, Seen>();
  return (event) => {
    if (event.type === "run.started")
      runs.set(event.runId, { agent: event.agent, depth: event.depth, waiting: null, trouble: "" });
    const run = "runId" in event && event.runId !== undefined ? runs.get(event.runId) : undefined;
    if (!run) return;
    if (event.type === "turn.started") run.waiting = null;
    const tell = (line: string) => terminal.tell(`${"  ".repeat(run.depth)}${line}`);
    const trouble = takeTrouble(event, run);
    if (trouble) tell(`❌ error ${run.agent}: a model call failed: ${trouble}`);
    const line =
      event.type === "run.ended"
        ? describeEnd(event, endsWithError && run.depth === 0)
        : describe(event, run);
    if (line) tell(line);
    if (event.type === "run.ended") runs.delete(event.runId);
  };
}

/** A failed model call is news when the run tries again; if the run ends with it, its end says so. */
function takeTrouble(event: RetinueEvent, run: Seen): string {
  const { trouble } = run;
  if (event.type === "turn.ended" && event.error) run.trouble = cutToLine(event.error.message, MAX_ERROR);
  const isRetried = event.type === "turn.started" || (event.type === "run.waiting" && event.on !== null);
  const isOver =
    event.type === "run.ended" && cutToLine(event.result.error?.message ?? "", MAX_ERROR) !== trouble;
  if (!isRetried && !isOver) return "";
  run.trouble = "";
  return trouble;
}

function describeEnd({ agent, result }: EventNamed<"run.ended">, withoutError: boolean): string {
  const { status, partial, duration_ms, tokens, cost_usd, bailout_reason, error } = result;
  const facts = `${showDuration(duration_ms)} · ${showCount(tokens.subtree, "token")} · ${showCost(cost_usd.subtree)}`;
  const why = bailout_reason ? ` · stopped by ${bailout_reason}` : "";
  const wrong =
    error && !(withoutError && !result.success) ? ` · ${cutToLine(error.message, MAX_ERROR)}` : "";
  const { tests_run: run, tests_passed: passed } = result;
  const tests =
    run !== null && passed !== null && run > passed
      ? ` · ${run - passed} of ${showCount(run, "test")} failed`
      : "";
  return `${showStatus(status, partial)} ${agent} ${facts}${tests}${why}${wrong}`;
}

/** What a person must see even if nothing else is shown. */
export function createNotices(terminal: Pick<Terminal, "tell">): Listener {
  return (event) => {
    if (event.type === "compliance.failed") terminal.tell(`❌ ${cutToLine(event.message, 1_000)}`);
    else if (event.type === "notice.raised" && event.level !== "info") {
      terminal.tell(`${event.level}: ${cutToLine(event.message, 1_000)}`);
    } else if (event.type === "approval.settled" && !event.allowed && event.by !== STOPPED.by) {
      const note = event.note ? `: ${cutToLine(event.note, 500)}` : "";
      const by = event.by === "nobody" ? "nobody is there to ask" : `by ${cutToLine(event.by, 100)}`;
      terminal.tell(`🚫 denied, ${by}${note}`);
    } else if (event.type === "approval.requested") {
      terminal.tell(`⏸ ${sayAsk(event.chain, event.tool, event.reason)}`);
    }
  };
}

function describe(event: RetinueEvent, run: Seen): string | undefined {
  switch (event.type) {
    case "run.started": {
      const again = event.attempt > 0 ? ` (retry ${event.attempt})` : "";
      return `▶ started ${run.agent}${again} [${cutToLine(event.model, MAX_NAME)}] ${cutToLine(event.task, MAX_TASK)}`;
    }
    case "run.waiting":
      return describeWait(event.on, run);
    case "phase.entered": {
      const { tools } = event.context;
      const isPlanned = event.phase === "execute" && Array.isArray(tools);
      const plan = isPlanned ? ` with ${cutToLine(tools.join(", "), MAX_TASK)}` : "";
      return `· ${run.agent}: phase ${event.phase}${plan}`;
    }
    case "call.started":
      return `· ${run.agent} calls ${cutToLine(event.tool, MAX_NAME)} ${cutToLine(showCallInput(event.input), MAX_TASK)}`;
    case "call.ended": {
      const good = event.outcome === "ok" || event.outcome === "cached";
      const took = showDuration(event.durationMs);
      if (good)
        return event.durationMs < LONG_CALL_MS
          ? undefined
          : `✅ ${event.outcome} ${run.agent}: ${cutToLine(event.tool, MAX_NAME)} ${took}`;
      const icon = event.outcome === "denied" ? "🚫" : "❌";
      return `${icon} ${event.outcome} ${run.agent}: ${cutToLine(event.tool, MAX_NAME)} ${took} ${cutToLine(event.summary, 200)}`;
    }
    default:
      return undefined;
  }
}

/** Parallel calls end their waits one by one; a person needs to hear of it once a turn. */
function describeWait(on: WaitingOn | null, run: Seen): string | undefined {
  if (on === null || on === run.waiting || !WORTH_TELLING.has(on)) return undefined;
  run.waiting = on;
  return `⏸ waiting ${run.agent}: for ${WAITS[on]}`;
}

function showCallInput(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}
