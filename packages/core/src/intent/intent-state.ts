import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Run } from "../run/run.ts";
import { onlyReads } from "../tools/tool.ts";
import { cutAt } from "../tools/truncate.ts";
import { type CallFault, faultOf } from "./call-fault.ts";
import type { Assessment, Phase } from "./intent-shapes.ts";
import { parseAssessment } from "./parse-assessment.ts";

/** Turns in which tools may be called. */
export const MAX_ITERATIONS = 3;
/** Unknown tools that the model is told of. */
const MAX_NAMED = 5;
/** How often the model may write its assessment. */
const MAX_ASSESSMENTS = 2;

/** One answered call. */
export type IntentCall = {
  readonly tool: string;
  readonly text: string;
  readonly fault: CallFault | null;
  /** The turn in which it was made, of those in which tools were called. */
  readonly turn: number;
};

/** Where an intent flow stands. */
export type IntentState = {
  phase: Phase | "done";
  assessment: Assessment | null;
  /** The planned tools that change something; the others only look. */
  writes: ReadonlySet<string>;
  /** What was wrong with the last assessment. */
  problem: string | null;
  assessments: number;
  /** Turns in which tools were called. */
  iteration: number;
  readonly calls: IntentCall[];
  /** What the model said when it stopped calling. */
  said: string;
  /** The last phase's words. */
  summary: string;
};

/** What a run's standing is told from. */
export type Told = Pick<Run, "history" | "tools" | "begunAt">;

/**
 * Where a run stands, told from its conversation alone: so a run that goes on after a crash, and one that is played
 * again, stand where they stood.
 */
export function intentState({ history, tools, begunAt }: Told): IntentState {
  const state: IntentState = {
    phase: "assess",
    assessment: null,
    writes: new Set(),
    problem: null,
    assessments: 0,
    iteration: 0,
    calls: [],
    said: "",
    summary: "",
  };
  let asked: IntentState["phase"] = "assess";
  for (const message of history.slice(begunAt)) {
    if (message.role === "assistant") {
      asked = state.phase;
      takeReply(state, message, tools);
    } else if (message.role === "tool" && asked === "execute") takeResults(state, message);
  }
  return state;
}

/** The planned calls that have not succeeded yet, and the writes that failed besides and were not made again. */
export function outstanding(state: IntentState): string[] {
  const { assessment, calls } = state;
  const done = calls.filter(({ fault }) => fault === null).map(({ tool }) => tool);
  const left = without(assessment?.sequence ?? [], done);
  return [...left, ...without(failedWrites(state), left)];
}

/** What of it changes something, and what only looks. */
export function divideOutstanding(state: IntentState): { writes: string[]; reads: string[] } {
  const { writes = [], reads = [] } = Object.groupBy(outstanding(state), (tool) =>
    state.writes.has(tool) ? "writes" : "reads",
  );
  return { writes, reads };
}

/** Writes that failed; one that was tried again in a later turn is judged by that call alone. */
function failedWrites({ calls, writes }: IntentState): string[] {
  const later = new Set(calls);
  return calls.flatMap((call) => {
    if (call.fault === null || !writes.has(call.tool)) return [];
    const again = [...later].find(({ tool, turn }) => tool === call.tool && turn > call.turn);
    if (again) later.delete(again);
    return again ? [] : [call.tool];
  });
}

/** The names of a list that are left when each of another has taken one of them away. */
function without(names: readonly string[], taken: readonly string[]): string[] {
  const rest = [...taken];
  return names.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

type Said = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Answered = Extract<LanguageModelV4Message, { role: "tool" }>;

function takeReply(state: IntentState, { content }: Said, tools: Run["tools"]): void {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const hasCalls = content.some(({ type }) => type === "tool-call");
  if (state.phase === "assess") assess(state, text, tools);
  else if (state.phase === "execute" && hasCalls) state.iteration++;
  else if (state.phase === "execute") {
    state.said = text;
    state.phase = "format";
  } else if (state.phase === "format") {
    state.summary = text;
    state.phase = "done";
  }
}

function assess(state: IntentState, text: string, tools: Run["tools"]): void {
  const parsed = parseAssessment(text);
  const unknown = parsed.ok ? parsed.assessment.tools.filter((name) => !isCallable(tools, name)) : [];
  state.assessments++;
  if (parsed.ok && unknown.length === 0) {
    state.assessment = parsed.assessment;
    state.writes = new Set(
      parsed.assessment.tools.filter((name) => {
        const tool = tools.get(name);
        return tool && !onlyReads(tool);
      }),
    );
    state.phase = parsed.assessment.status === "failed" ? "done" : "execute";
    return;
  }
  state.problem = parsed.ok
    ? `there is no tool ${unknown
        .slice(0, MAX_NAMED)
        .map((name) => `'${cutAt(name, 80)}'`)
        .join(", ")} here`
    : parsed.problem;
  if (state.assessments >= MAX_ASSESSMENTS) state.phase = "done";
}

/** A tool that this flow may plan with: it calls tools directly and delegates to nobody. */
export function isCallable(tools: Run["tools"], name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && !tool.delegates && tool.offered !== false;
}

function takeResults(state: IntentState, { content }: Answered): void {
  for (const part of content) {
    if (part.type !== "tool-result") continue;
    const { output } = part;
    const value = "value" in output ? output.value : "";
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const fault = output.type.startsWith("error") ? faultOf(part.toolName, text) : null;
    state.calls.push({ tool: part.toolName, text, fault, turn: state.iteration });
  }
  const isHopeless = state.calls.some(({ fault }) => fault?.final);
  if (isHopeless || state.iteration >= MAX_ITERATIONS || outstanding(state).length === 0)
    state.phase = "format";
}
