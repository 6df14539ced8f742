import { recordRefusal } from "../run/calls/record-call.ts";
import { fail, NEXT_TURN } from "../run/ending.ts";
import { lastText } from "../run/history.ts";
import { loadPrompt } from "../run/load-prompt.ts";
import type { Next } from "../run/outcome.ts";
import type { Flow, FlowStep, Run } from "../run/run.ts";
import { functionToolOf } from "../tools/validate-input.ts";
import { endIntent } from "./end-intent.ts";
import { contextForRecord, contextText, intentContext } from "./intent-context.ts";
import type { IntentContext, Phase } from "./intent-shapes.ts";
import { type IntentState, intentState, isCallable, MAX_ITERATIONS, outstanding } from "./intent-state.ts";

/** A phase, with where the run stands in it. */
type CurrentPhase = { readonly name: Phase; readonly state: IntentState; readonly context: IntentContext };

/**
 * Three phases: assess the request and plan the calls, make the planned calls, say what came of them. It is told from the
 * whole conversation, which is short and never condensed.
 */
export const intentFlow: Flow = {
  condenses: false,
  hasOwnForm: true,
  actsByWriting: true,
  enterStep(run) {
    const phase = findPhase(run);
    const text = WORDS[phase.name](run, phase);
    // After a crash the words may stand in the conversation already.
    if (readLastWords(run) !== text) run.pushUser(text);
    const { runId } = run;
    const context = run.host.redactor.redactJson(contextForRecord(phase.context));
    run.session.emit({ type: "phase.entered", runId, phase: phase.name, context });
    return createStep(phase);
  },
  findStepOfReply(run) {
    const { history, tools, begunAt } = run;
    return createStep(findPhase(run, intentState({ history: history.slice(0, -1), tools, begunAt })));
  },
  afterAnswer(run, reply) {
    if (reply.finish === "content-filter")
      return fail(reply.text, "content_filter", "the provider's content filter stopped the reply");
    if (reply.finish === "error") return fail(reply.text, "bad_response", "the model ended with an error");
    const next = endIfDone(run, NEXT_TURN);
    if (next.kind !== "end" || reply.finish !== "length") return next;
    run.warnings.push("the reply was cut off by the model's output limit");
    return { kind: "end", ending: { ...next.ending, partial: true } };
  },
  afterCalls: endIfDone,
  keepWork: (run) => lastText(run),
  replaceReport: (run, _, said) => said || lastText(run),
  finish: endIntent,
};

function findPhase(run: Run, state = intentState(run)): CurrentPhase {
  const name = state.phase === "done" ? "format" : state.phase;
  return { name, state, context: intentContext(run, state, name === "assess" ? "planning" : "executing") };
}

/** Only the second phase calls tools, and only those of the plan. */
function createStep({ name, state, context }: CurrentPhase): FlowStep {
  const planned = state.assessment?.tools ?? [];
  return {
    name,
    tools: name === "assess" ? null : planned,
    mayCall: name !== "format",
    describe: (run) => ({ phase: name, context: run.host.redactor.redactJson(contextForRecord(context)) }),
    describeReply(run, reply) {
      if (name !== "assess") return {};
      const content = [{ type: "text" as const, text: reply.text }];
      const after = intentState({ tools: run.tools, history: [{ role: "assistant", content }], begunAt: 0 });
      const status = after.assessment?.status ?? "planning";
      return { context: run.host.redactor.redactJson(intentContext(run, after, status)) };
    },
    async answerCall(call, make, run) {
      if (name === "execute" && planned.includes(call.tool)) return make(call);
      const text =
        name === "execute"
          ? `'${call.tool}' is not part of the plan; planned: ${planned.join(", ")}`
          : "no tool can be called in this phase";
      recordRefusal(run, call, { outcome: "error", text, effects: { uncounted: true } });
      return { callId: call.callId, tool: call.tool, text, outcome: "error" };
    },
  };
}

/** What comes next, unless the flow is over: also a model that calls tools in its last words has said them. */
function endIfDone(run: Run, next: Next): Next {
  const { phase, summary } = intentState(run);
  return phase === "done" ? { kind: "end", ending: { status: "completed", text: summary } } : next;
}

function intentPrompt(name: string, values: Readonly<Record<string, string>>): string {
  return loadPrompt(new URL(`./prompts/intent-${name}.md`, import.meta.url), values);
}

const WORDS: Readonly<Record<Phase, (run: Run, phase: CurrentPhase) => string>> = {
  assess: (run, { state: { problem } }) =>
    problem === null
      ? intentPrompt("assess", { tools: describeTools(run) })
      : intentPrompt("assess-again", { problem }),
  execute: (_, { state, context }) =>
    state.iteration === 0
      ? intentPrompt("execute", { context: contextText(context), most: String(MAX_ITERATIONS) })
      : intentPrompt("go-on", {
          left: outstanding(state).join(", "),
          turn: String(state.iteration + 1),
          most: String(MAX_ITERATIONS),
        }),
  format: (_, { state }) =>
    intentPrompt("format", {
      assumptions: state.assessment?.assumptions.join("; ") || "none",
      left: outstanding(state).join(", ") || "nothing",
    }),
};

function describeTools(run: Run): string {
  return [...run.tools]
    .filter(([name, tool]) => name === tool.name && isCallable(run.tools, name))
    .map(([, tool]) => {
      const { name, description, inputSchema } = functionToolOf(tool);
      return `- ${name}: ${description}\n  params: ${JSON.stringify(inputSchema.properties ?? {})}`;
    })
    .join("\n");
}

function readLastWords({ history }: Run): string | null {
  const last = history.at(-1);
  if (last?.role !== "user") return null;
  return last.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
