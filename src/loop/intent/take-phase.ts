import type { IntentContext, Phase } from "../../schema/intent.ts";
import { functionToolOf } from "../../tools/validate-input.ts";
import { type CallResult, dispatch } from "../calls/dispatch.ts";
import { recordRefusal } from "../calls/record-call.ts";
import { loopPrompt } from "../load-prompt.ts";
import type { Reply, ToolCall } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { fail, NEXT_TURN, type Next } from "../turns/next.ts";
import { contextForRecord, contextText, intentContext } from "./intent-context.ts";
import { type IntentState, intentState, isCallable, MAX_ITERATIONS, outstanding } from "./intent-state.ts";

/** The phase that a run is in, with what is offered and recorded in it. */
export type CurrentPhase = {
  readonly name: Phase;
  /** Names of the planned tools, which only its second phase may call. */
  readonly tools: readonly string[];
  readonly context: IntentContext;
  readonly state: IntentState;
};

/** The phase in which a run stands. */
function phaseOf(run: Run, state = intentState(run)): CurrentPhase {
  const name = state.phase === "done" ? "format" : state.phase;
  const context = intentContext(run, state, name === "assess" ? "planning" : "executing");
  return { name, tools: name === "assess" ? [] : (state.assessment?.tools ?? []), context, state };
}

/** The phase in which the reply was asked for that the conversation ends with. */
export function phaseOfReply(run: Run): CurrentPhase {
  const { history, spec, begunAt } = run;
  return phaseOf(run, intentState({ history: history.slice(0, -1), spec, begunAt }));
}

/** Tells the model which phase comes next, and the host what belongs to it. */
export function enterPhase(run: Run, ports: LoopPorts): CurrentPhase {
  const phase = phaseOf(run);
  const text = WORDS[phase.name](run, phase);
  // After a crash the words may stand in the conversation already.
  if (lastWords(run) !== text) run.pushUser(text);
  run.phase = phase;
  const { runId, sessionId } = run.spec;
  const context = ports.redactor.redactJson(contextForRecord(phase.context));
  ports.emit(sessionId, { type: "phase.entered", runId, phase: phase.name, context });
  return phase;
}

/** What a phase's row tells of it besides the conversation. */
export function phaseForRecord(
  { name, context }: CurrentPhase,
  ports: LoopPorts,
): { phase: Phase; context: IntentContext } {
  return { phase: name, context: ports.redactor.redactJson(contextForRecord(context)) };
}

/** The context that a reply leads to, for the row of its phase; null where it changes nothing. */
export function contextAfter(run: Run, phase: CurrentPhase, reply: Reply): IntentContext | null {
  if (phase.name !== "assess") return null;
  const content = [{ type: "text" as const, text: reply.text }];
  const state = intentState({ spec: run.spec, history: [{ role: "assistant", content }], begunAt: 0 });
  return intentContext(run, state, state.assessment?.status ?? "planning");
}

/** The model made no calls: its phase is over, or the flow is. */
export function afterPhase(run: Run, reply: Reply): Next {
  if (reply.finish === "content-filter")
    return fail(reply.text, "content_filter", "the provider's content filter stopped the reply");
  if (reply.finish === "error") return fail(reply.text, "bad_response", "the model ended with an error");
  const next = unlessDone(run, NEXT_TURN);
  if (next.kind !== "end" || reply.finish !== "length") return next;
  run.warnings.push("the reply was cut off by the model's output limit");
  return { kind: "end", ending: { ...next.ending, partial: true } };
}

/** What comes next, unless the flow is over: also a model that calls tools in its last words has said them. */
export function unlessDone(run: Run, next: Next): Next {
  const { phase, summary } = intentState(run);
  return phase === "done" ? { kind: "end", ending: { status: "completed", text: summary } } : next;
}

/** Makes a call that the plan has, and answers any other without making it. */
export function plannedOnly(
  run: Run,
  phase: CurrentPhase,
  ports: LoopPorts,
  make: (call: ToolCall) => Promise<CallResult> = (call) => dispatch(run, call, ports),
): (call: ToolCall) => Promise<CallResult> {
  return async (call) => {
    const isExecuting = phase.name === "execute";
    if (isExecuting && phase.tools.includes(call.tool)) return make(call);
    const text = isExecuting
      ? `'${call.tool}' is not part of the plan; planned: ${phase.tools.join(", ")}`
      : "no tool can be called in this phase";
    recordRefusal(run, call, { outcome: "error", text, effects: { uncounted: true } }, ports);
    return { callId: call.callId, tool: call.tool, text, outcome: "error" };
  };
}

const WORDS: Readonly<Record<Phase, (run: Run, phase: CurrentPhase) => string>> = {
  assess: (run, { state: { problem } }) =>
    problem === null
      ? loopPrompt("intent-assess", { tools: describeTools(run) })
      : loopPrompt("intent-assess-again", { problem }),
  execute: (_, { state, context }) =>
    state.iteration === 0
      ? loopPrompt("intent-execute", { context: contextText(context), most: String(MAX_ITERATIONS) })
      : loopPrompt("intent-go-on", {
          left: outstanding(state).join(", "),
          turn: String(state.iteration + 1),
          most: String(MAX_ITERATIONS),
        }),
  format: (_, { state }) =>
    loopPrompt("intent-format", {
      assumptions: state.assessment?.assumptions.join("; ") || "none",
      left: outstanding(state).join(", ") || "nothing",
    }),
};

function describeTools(run: Run): string {
  return [...run.spec.tools]
    .filter(([name, tool]) => name === tool.name && isCallable(run.spec.tools, name))
    .map(([, tool]) => {
      const { name, description, inputSchema } = functionToolOf(tool);
      return `- ${name}: ${description}\n  params: ${JSON.stringify(inputSchema.properties ?? {})}`;
    })
    .join("\n");
}

function lastWords({ history }: Run): string | null {
  const last = history.at(-1);
  if (last?.role !== "user") return null;
  return last.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
