import { countOf, showCost } from "../../measures.ts";
import { plainLine } from "../../plain-text.ts";
import { isBusy, type TuiState } from "../tui-state.ts";
import { cutSpans, type Span, widthOf } from "./spans.ts";

/** What stands where the conversation will be. */
export const WELCOME = `Retinue

Ask for something below. Agents hand parts of it to sub-agents; you see them work, and nothing risky happens without your word.

/help lists commands and keys.`;

/** The last line: who answers, what was spent, and the key that matters now. */
export function drawStatus(state: TuiState, width: number): Span[] {
  const { facts, spent, ready } = state;
  const mode = facts.mode === "default" ? "" : facts.mode;
  const left = ready
    ? [facts.agent, facts.model, mode, facts.project]
        .filter(Boolean)
        .map((part) => plainLine(part, 60))
        .join(" · ")
    : "loading…";
  const cost = spent.tasks > 0 ? `${countOf(spent.tokens, "token")} · ${showCost(spent.costUsd)} · ` : "";
  const right = `${cost}${hintOf(state)}`;
  const room = width - widthOf(right) - 2;
  if (room < 10) return cutSpans([{ text: right, style: "dim" }], width);
  const [start] = cutSpans([{ text: left, style: "dim" }], room);
  const cut = cutSpans([{ text: left, style: "dim" }], room);
  const gap = width - widthOf(right) - cut.reduce((sum, { text }) => sum + widthOf(text), 0);
  return start ? [...cut, { text: " ".repeat(Math.max(1, gap)) }, { text: right, style: "dim" }] : [];
}

function hintOf(state: TuiState): string {
  if (state.leaving) return "settling; Ctrl-C to leave at once";
  if (state.interruptedAtMs !== null)
    return isBusy(state) ? "stopping; Ctrl-C again to leave" : "Ctrl-C again to leave";
  if (state.transcript) return "↑↓ scroll · Esc back";
  if (state.approvals.length > 0) return "Esc stops the run";
  if (state.focus === "tree") return "↑↓ choose · Enter opens · Esc back";
  if (state.scroll > 0) return "Esc to the end";
  return isBusy(state) ? "Esc stops · Tab tree · Ctrl-O transcript" : "/help";
}

/** The line above the input; it names the run that a message would go to. */
export function drawTarget(state: TuiState, width: number): Span[] {
  const run = state.selectedRunId === null ? undefined : state.alive.get(state.selectedRunId);
  const name = run && !state.approvals[0] ? ` to ${plainLine(run.agent, 40)} ` : "";
  const rule = "─".repeat(Math.max(0, width - widthOf(name) - 3));
  return cutSpans(
    [
      { text: "───", style: "dim" },
      { text: name, style: "accent" },
      { text: rule, style: "dim" },
    ],
    width,
  );
}
