import { cutShort, needsModel } from "../offline-words.ts";
import {
  findAnswer,
  findResult,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  type Situation,
} from "../procedure.ts";
import { type ChildResult, isFromHost, readResults, taskText } from "../read-conversation.ts";
import { findHostileSign } from "./cautions.ts";
import { DOMAINS, isPlainlyOurs, speaksOfCode } from "./domains.ts";
import { gatherFindings, readChildSummary, readFaultType } from "./findings.ts";
import { type DomainTask, planRequest, planWrites, type RequestPlan } from "./plan-request.ts";
import { MAX_REQUEST_CHARS, readWording } from "./wording.ts";

/** The agent that only spans the four domains: it takes every request. */
export const assistant: Procedure = { agents: ["assistant"], next: nextMove };

/** The main agent with a request that is plainly for these domains and speaks of no code. */
export const mainForDomains: Procedure = {
  agents: ["main"],
  takes: ({ task, later, delegates }) => {
    const names = delegates.map(({ name }) => name);
    return requestsIn({ task, later }).every((text) => {
      if (text.length > MAX_REQUEST_CHARS) return false;
      const { head } = readWording(text);
      if (!isPlainlyOurs(head) || speaksOfCode(head)) return false;
      return planRequest(text).parts.every(({ domain }) => domain !== undefined && names.includes(domain));
    });
  },
  next: nextMove,
};

/** The last request decides what is said; those before it have been answered. */
function nextMove(situation: Situation): OfflineMove {
  let move: OfflineMove = { cannot: "nothing was asked", type: "params" };
  for (const text of requestsIn(situation)) {
    move = answerRequest(text, situation);
    if ("calls" in move) return move;
  }
  return move;
}

function answerRequest(text: string, situation: Situation): OfflineMove {
  if (text.length > MAX_REQUEST_CHARS)
    return {
      cannot: `the request has ${text.length} characters, which is too long for rules`,
      type: "params",
    };
  const hostile = findHostileSign(text);
  if (hostile) return { cannot: hostile.why, type: "params" };
  const plan = planRequest(text);
  if (plan.parts.every(({ domain }) => domain === undefined))
    return { cannot: refuseRequest(text, situation) };
  const reading = runStage(plan.reads, situation);
  if ("calls" in reading) return reading;
  const findings = gatherFindings(reading.results);
  const failed = reading.results.filter(({ success }) => !success);
  const wantsSlot = plan.writes.length > 0 && findings.busy !== undefined;
  if (failed.length > 0 || wantsSlot || reading.results.length < plan.reads.length) {
    const why = failed.length > 0 ? "something could not be looked up" : "the time is not free";
    return composeReply(
      plan,
      reading.results,
      plan.writes.map(({ text: part }) => `“${part}”, because ${why}`),
    );
  }
  const { now, timezone } = situation;
  const { tasks, cannot } = planWrites(
    plan,
    findings,
    now ? { now, ...(timezone && { timezone }) } : undefined,
  );
  if (cannot.length > 0) return composeReply(plan, reading.results, cannot);
  const writing = runStage(tasks, situation);
  return "calls" in writing ? writing : composeReply(plan, [...reading.results, ...writing.results], []);
}

/** The calls of a stage that are still to make, or the results of all of them. */
function runStage(
  tasks: readonly DomainTask[],
  situation: Situation,
): { calls: OfflineCall[] } | { results: ChildResult[] } {
  const calls = planCalls(tasks, situation.tools);
  const open = calls.filter((call) => !findAnswer(situation.calls, call));
  // Without a tool that knows what waits for what, one goes after the other.
  const inTurn = calls.length > 1 && tasks.some(({ dependsOn }) => dependsOn);
  const isStopped =
    inTurn &&
    situation.calls.some(
      ({ failed, result }) => failed || readResults(result).some(({ success }) => !success),
    );
  if (inTurn && open.length > 0 && !isStopped && !situation.wrapUp) return { calls: open.slice(0, 1) };
  if (!inTurn && open.length > 0 && !situation.wrapUp && !situation.condensed) return { calls: open };
  const results = calls.flatMap((call) => readResults(findResult(situation.calls, call)));
  const isRunning = calls.some((call) => /^\{"status":"running"/m.test(findResult(situation.calls, call)));
  const collected = situation.calls.filter(({ tool }) => tool === "collect_results");
  if (isRunning && !situation.wrapUp && collected.length < 1 && situation.tools.includes("collect_results"))
    return { calls: [{ tool: "collect_results", input: { wait: "all" } }] };
  const late = isRunning ? collected.flatMap(({ result }) => readResults(result)) : [];
  const refused = calls.flatMap((call) => readRefusal(call, situation));
  return { results: [...results, ...late, ...refused] };
}

function planCalls(tasks: readonly DomainTask[], tools: readonly string[]): OfflineCall[] {
  if (tasks.length > 1 && tools.includes("delegate_many"))
    return [{ tool: "delegate_many", input: { tasks } }];
  return tasks.map(({ agent, task }) => ({ tool: "delegate", input: { agent, task } }));
}

/** A delegation that the host did not even begin. */
function readRefusal(call: OfflineCall, { calls }: Situation): ChildResult[] {
  const past = findAnswer(calls, call);
  if (!past?.failed || readResults(past.result).length > 0) return [];
  const agent = String(call.input.agent ?? "delegation");
  return [
    {
      agent,
      success: false,
      partial: false,
      summary: past.result,
      details: past.result,
      files: [],
      error: past.result,
    },
  ];
}

/** One answer from all: what was not done comes first, then each domain's own words in the order they were asked. */
function composeReply(
  { parts }: RequestPlan,
  results: readonly ChildResult[],
  left: readonly string[],
): OfflineMove {
  const failed = results.filter(({ success }) => !success);
  const done = results.filter(({ success }) => success);
  const lines = [
    ...failed.map((result) => `Not done (${result.agent}): ${explainFailure(result)}`),
    ...left.map((why) => `Not done: ${why}.`),
    ...done.map((result) =>
      results.length > 1 ? `${result.agent}: ${readChildSummary(result)}` : readChildSummary(result),
    ),
  ];
  const unclear = parts
    .filter(({ domain }) => domain === undefined)
    .map(({ text }) => `Not done: “${text}” is no work for mail, calendar, contacts or Slack.`);
  const all = [...unclear.filter((line) => !lines.includes(line)), ...lines];
  const text = (all.length > 1 ? all.map((line) => `- ${line}`) : all).join("\n") || "Nothing was done.";
  const isRefusal = failed.some((result) => readFaultType(result) === "permission");
  return done.length === 0 && !isRefusal ? { cannot: text, type: "params" } : { say: text };
}

function explainFailure(result: ChildResult): string {
  const why = result.error || readChildSummary(result);
  return /^not started: it needs/.test(why) ? "not begun, because the event was not made" : why;
}

function refuseRequest(text: string, { delegates }: Situation): string {
  const names = delegates.map(({ name }) => name).filter((name) => DOMAINS.some((domain) => domain === name));
  return needsModel(
    `tell what this asks for (“${cutShort(text, 120)}”)`,
    `hand requests to ${names.join(", ") || "nobody here"}`,
  );
}

/** What a person said, as opposed to the runtime. */
function requestsIn({ task, later }: Pick<Situation, "task" | "later">): string[] {
  return [taskText(task), ...later.filter((text) => !isFromHost(text))];
}
