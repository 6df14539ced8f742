import type { IntentContext, SubAgentResponse } from "../../schema/intent.ts";
import type { ErrorType, RunError } from "../../schema/result.ts";
import type { Ending } from "../build-result.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { type CallFault, faultOfRun } from "./call-fault.ts";
import { contextForRecord, intentContext, requestOf, resultOf } from "./intent-context.ts";
import { type IntentState, intentState, outstanding } from "./intent-state.ts";

const DOMAINS = ["email", "calendar", "contacts", "slack"];

/**
 * The ending of an intent flow, whatever it was: the response is built from what was measured, and only its summary is
 * the model's. A request that was not fulfilled is a failed run.
 */
export function endIntent(run: Run, ending: Ending, ports: LoopPorts): Ending {
  const state = intentState(run);
  const fault = ending.error ? faultOfRun(ending.error) : faultIn(run, state);
  const response = responseOf(run, state, { ending, fault }, ports);
  const status: IntentContext["status"] = response.success ? "complete" : "failed";
  const context = { ...intentContext(run, state, status), result: asRecord(response.result.data) };
  const text = ending.text.trim() || response.result.summary;
  return {
    ...ending,
    text,
    data: ports.redactor.redactJson(response),
    context: ports.redactor.redactJson(contextForRecord(context)),
    ...(ending.status === "completed" && !response.success && { status: "failed" as const }),
    ...(fault && !ending.error && { error: errorOf(fault) }),
  };
}

function responseOf(
  run: Run,
  state: IntentState,
  { ending, fault }: { ending: Ending; fault: CallFault | null },
  ports: LoopPorts,
): SubAgentResponse {
  const data = resultOf(state);
  const hasData = Object.keys(data).length > 0;
  const words = unlabelled(run, ending.text);
  return {
    success: fault === null,
    domain: domainOf(run, state),
    request: requestOf(run),
    result: {
      data: hasData ? data : null,
      summary: words || fault?.message || "Done.",
      tools_used: [...run.toolsUsed],
      execution_time: Math.round(run.elapsedMs(ports.clock.monotonicMs()) / 100) / 10,
    },
    ...(fault && {
      error: {
        type: fault.type,
        message: fault.message,
        tool: fault.tool,
        recoverable: fault.recoverable,
      },
    }),
  };
}

function unlabelled({ model: { label } }: Run, text: string): string {
  return (label ? text.replaceAll(label, "") : text).trim();
}

/** Why the request is not fulfilled; null if it is. */
function faultIn(run: Run, state: IntentState): CallFault | null {
  const { assessment, calls, said, problem } = state;
  if (!assessment)
    return paramsFault(
      `the request could not be assessed: ${problem ?? "the model gave no assessment"}`,
      "model",
    );
  if (assessment.status === "failed") {
    const what = assessment.missing.length > 0 ? `missing: ${assessment.missing.join(", ")}` : "";
    return paramsFault([what, assessment.notes].filter(Boolean).join(". "), assessment.tools[0] ?? "none");
  }
  const left = outstanding(state);
  const [first] = left;
  if (first === undefined) return null;
  const failed =
    calls.findLast(({ tool, fault }) => fault && left.includes(tool)) ?? calls.findLast(({ fault }) => fault);
  return (
    failed?.fault ?? paramsFault(unlabelled(run, said) || `planned but not called: ${left.join(", ")}`, first)
  );
}

function paramsFault(message: string, tool: string): CallFault {
  return { type: "params", message, tool, recoverable: false, final: true };
}

function errorOf({ type, message, tool, recoverable }: CallFault): RunError {
  return { type: type satisfies ErrorType, message, tool, recoverable };
}

/** The domain of the tools that were planned, or else of those there are. */
function domainOf({ spec }: Run, { assessment }: IntentState): string {
  if (DOMAINS.includes(spec.agent.name)) return spec.agent.name;
  const names = assessment && assessment.tools.length > 0 ? assessment.tools : [...spec.tools.keys()];
  const groups = names.flatMap((name) => spec.tools.get(name)?.groups ?? []);
  return groups.find((group) => DOMAINS.includes(group)) ?? spec.agent.name;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
