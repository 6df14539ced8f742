import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Assessment, Phase } from "../../schema/intent.ts";
import { cutAt } from "../../tools/truncate.ts";
import type { Run } from "../run.ts";
import { type CallFault, faultOf } from "./call-fault.ts";
import { parseAssessment } from "./parse-assessment.ts";

/** Turns in which tools may be called. */
export const MAX_ITERATIONS = 3;
/** Unknown tools that the model is told of. */
const MAX_NAMED = 5;
/** How often the model may write its assessment. */
const MAX_ASSESSMENTS = 2;

/** One answered call. */
export type IntentCall = { readonly tool: string; readonly text: string; readonly fault: CallFault | null };

/** Where an intent flow stands. */
export type IntentState = {
  phase: Phase | "done";
  assessment: Assessment | null;
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
export type Told = Pick<Run, "history" | "spec" | "begunAt">;

/**
 * Where a run stands, told from its conversation alone: so a run that goes on after a crash, and one that is played
 * again, stand where they stood.
 */
export function intentState({ history, spec, begunAt }: Told): IntentState {
  const state: IntentState = {
    phase: "assess",
    assessment: null,
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
      takeReply(state, message, spec.tools);
    } else if (message.role === "tool" && asked === "execute") takeResults(state, message);
  }
  return state;
}

/** The planned calls that have not succeeded yet. */
export function outstanding({ assessment, calls }: IntentState): string[] {
  const done = calls.filter(({ fault }) => fault === null).map(({ tool }) => tool);
  return (assessment?.sequence ?? []).filter((tool) => {
    const at = done.indexOf(tool);
    if (at >= 0) done.splice(at, 1);
    return at < 0;
  });
}

type Said = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Answered = Extract<LanguageModelV4Message, { role: "tool" }>;

function takeReply(state: IntentState, { content }: Said, tools: Run["spec"]["tools"]): void {
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

function assess(state: IntentState, text: string, tools: Run["spec"]["tools"]): void {
  const parsed = parseAssessment(text);
  const unknown = parsed.ok ? parsed.assessment.tools.filter((name) => !isCallable(tools, name)) : [];
  state.assessments++;
  if (parsed.ok && unknown.length === 0) {
    state.assessment = parsed.assessment;
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
export function isCallable(tools: Run["spec"]["tools"], name: string): boolean {
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
    state.calls.push({ tool: part.toolName, text, fault });
  }
  const isHopeless = state.calls.some(({ fault }) => fault?.final);
  if (isHopeless || state.iteration >= MAX_ITERATIONS || outstanding(state).length === 0)
    state.phase = "format";
}
