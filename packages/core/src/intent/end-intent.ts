import { lastText } from "../run/history.ts";
import type { Ending } from "../run/outcome.ts";
import type { Run } from "../run/run.ts";
import type { BailoutReason, ErrorType, RunError } from "../schema/result.ts";
import { cutAt } from "../tools/truncate.ts";
import { type CallFault, faultOfRun } from "./call-fault.ts";
import { contextForRecord, intentContext, readCallData, readRequest, resultOf } from "./intent-context.ts";
import type { IntentContext, SubAgentResponse } from "./intent-shapes.ts";
import {
  divideOutstanding,
  type IntentCall,
  type IntentState,
  intentState,
  outstanding,
} from "./intent-state.ts";

const DOMAINS = ["email", "calendar", "contacts", "slack"];

/**
 * The ending of an intent flow, whatever it was: the response is built from what was measured, and only its summary is
 * the model's. A request that was not fulfilled is a failed run; one whose writes were all done is not, whatever could not
 * be looked up besides.
 */
export function endIntent(run: Run, given: Ending): Ending {
  const state = intentState(run);
  const ending = unlessFulfilled(run, state, given);
  const own = faultIn(run, state, ending.bailout);
  const { error } = ending;
  const fault = error && !(own && error.type === "deliverable") ? faultOfRun(error) : own;
  const words = wordsOf(run, state, ending);
  const unread = fault === null ? describeUnread(state, ending.bailout) : [];
  run.warnings.push(...unread);
  run.warnings.push(...run.steering.splice(0).map((text) => `this came too late to be heard: ${text}`));
  const done = words && (fault || unread.length > 0) ? listDone(listWrites(state)) : "";
  const response = responseOf(run, state, { words, done, fault, unread });
  const status: IntentContext["status"] = response.success ? "complete" : "failed";
  const context = { ...intentContext(run, state, status), result: asRecord(response.result.data) };
  const data = run.host.redactor.redactJson(response);
  return {
    ...ending,
    text: words ? [done, words].filter(Boolean).join("\n") : data.result.summary,
    data,
    context: run.host.redactor.redactJson(contextForRecord(context)),
    ...(ending.status === "completed" && !response.success && { status: "failed" as const }),
    // What was planned has been done; only words are missing, and as a failure it would be done a second time.
    ...(ending.status === "completed" && response.success && { partial: false }),
    ...(fault && !error && { error: errorOf(fault) }),
  };
}

/**
 * Once every planned call has succeeded, or all but reads beside writes, the request is fulfilled, whatever keeps the model
 * from its summary; as a failure it would be asked for, and done, a second time. Only who stops it has the last word.
 */
function unlessFulfilled(run: Run, state: IntentState, ending: Ending): Ending {
  const { error, ...rest } = ending;
  const isChecked = ending.verdicts?.every(({ ok }) => ok) ?? true;
  const isFulfilled = isChecked && state.iteration > 0 && faultIn(run, state) === null;
  const isOver = run.interruption?.status === "timeout";
  if (!error || (run.interruption && !isOver) || !isFulfilled) return ending;
  const why = isOver ? "its time was over" : run.host.redactor.redact(error.message);
  run.warnings.push(`the model wrote no summary: ${why}`);
  return { ...rest, status: "completed" };
}

/** The model's last words; what it wrote in earlier phases is no summary. */
function wordsOf(run: Run, { summary }: IntentState, { text }: Ending): string {
  const words = (text === lastText(run) ? summary : text).trim();
  return run.host.guards.isEmpty(unlabelled(run, words)) ? "" : words;
}

function responseOf(
  run: Run,
  state: IntentState,
  {
    words,
    done,
    fault,
    unread,
  }: { words: string; done: string; fault: CallFault | null; unread: readonly string[] },
): SubAgentResponse {
  const data = resultOf(state);
  const hasData = Object.keys(data).length > 0;
  const summary = words
    ? [done, unlabelled(run, words)].filter(Boolean).join(" ")
    : hostSummary(state, fault, unread);
  return {
    success: fault === null,
    domain: domainOf(run, state),
    request: readRequest(run),
    result: {
      data: hasData ? data : null,
      summary: shortened(summary, MAX_SUMMARY_CHARS),
      tools_used: [...run.toolsUsed],
      execution_time: Math.round(run.elapsedMs(run.host.clock.monotonicMs()) / 100) / 10,
    },
    ...(fault && {
      error: {
        type: fault.type,
        message: shortened(fault.message, MAX_MESSAGE_CHARS),
        tool: fault.tool,
        recoverable: fault.recoverable,
      },
    }),
  };
}

function unlabelled({ model: { label } }: Run, text: string): string {
  return (label ? text.replaceAll(label, "") : text).trim();
}

/** What the host can tell where the model has said nothing. */
function hostSummary(
  { assessment, calls }: IntentState,
  fault: CallFault | null,
  unread: readonly string[],
): string {
  const done = listDone(calls);
  const assumed = assessment?.assumptions.join("; ");
  if (fault) return done ? `${done} After that: ${fault.message}` : fault.message;
  return [done, ...unread.map((line) => `${line}.`), assumed && `Assumed: ${assumed}.`]
    .filter(Boolean)
    .join(" ");
}

/** The calls that succeeded, each with what its answer calls the thing it made or changed; empty if there are none. */
function listDone(calls: readonly IntentCall[]): string {
  const done = new Set(calls.filter(({ fault }) => fault === null).map(describeCall));
  return done.size > 0 ? `Done: ${[...done].join(", ")}.` : "";
}

const MAX_NAME_CHARS = 200;
const NAMES_IT = /^(?:(?:.+_)?id|ts|link|url)$/;

function describeCall({ tool, text }: IntentCall): string {
  const names = Object.entries(asRecord(readCallData(text))).flatMap(([key, value]) =>
    NAMES_IT.test(key) && typeof value === "string" ? [`${key} ${shortened(value, MAX_NAME_CHARS)}`] : [],
  );
  return names.length > 0 ? `${tool} (${names.join(", ")})` : tool;
}

/** A line for each planned look-up that a request went without. */
function describeUnread(state: IntentState, bailout?: BailoutReason): string[] {
  return [...new Set(divideOutstanding(state).reads)].map((name) => {
    const failed = state.calls.findLast(({ tool, fault }) => fault && tool === name)?.fault;
    const why = bailout ? `stopped by a limit (${bailout.replaceAll("_", " ")})` : "it was not called";
    return `what was asked for is done, but '${name}' did not succeed: ${shortened(failed?.message ?? why, MAX_MESSAGE_CHARS)}`;
  });
}

function listWrites({ calls, writes }: IntentState): IntentCall[] {
  return calls.filter(({ tool }) => writes.has(tool));
}

const MAX_SUMMARY_CHARS = 4_000;
const MAX_MESSAGE_CHARS = 2_000;

function shortened(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutAt(text, limit - 1)}…`;
}

/** Why the request is not fulfilled; null if it is. */
function faultIn(run: Run, state: IntentState, bailout?: BailoutReason): CallFault | null {
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
  const { writes, reads } = divideOutstanding(state);
  if (writes.length === 0 && listWrites(state).some(({ fault }) => fault === null)) return null;
  const left = outstanding(state);
  const [first] = left;
  if (first === undefined) return null;
  const failed =
    calls.findLast(({ tool, fault }) => fault && writes.includes(tool)) ??
    calls.findLast(({ tool, fault }) => fault && reads.includes(tool)) ??
    calls.findLast(({ fault }) => fault);
  if (failed?.fault) return failed.fault;
  if (!bailout)
    return paramsFault(unlabelled(run, said) || `planned but not called: ${left.join(", ")}`, first);
  const message = `stopped by a limit (${bailout.replaceAll("_", " ")}) before ${left.join(", ")}`;
  return { type: "tool_error", message, tool: first, recoverable: false, final: true };
}

function paramsFault(message: string, tool: string): CallFault {
  return { type: "params", message, tool, recoverable: false, final: true };
}

function errorOf({ type, message, tool, recoverable }: CallFault): RunError {
  return {
    type: type satisfies ErrorType,
    message: shortened(message, MAX_MESSAGE_CHARS),
    tool,
    recoverable,
  };
}

/** The domain of the tools that were planned, or else of those there are. */
function domainOf(run: Run, { assessment }: IntentState): string {
  if (DOMAINS.includes(run.agent.name)) return run.agent.name;
  const names = assessment && assessment.tools.length > 0 ? assessment.tools : [...run.tools.keys()];
  const groups = names.flatMap((name) => run.tools.get(name)?.groups ?? []);
  return groups.find((group) => DOMAINS.includes(group)) ?? run.agent.name;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
