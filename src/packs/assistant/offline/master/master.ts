import { needsModel } from "../../../../models/offline/offline-words.ts";
import { answerTo } from "../../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, Procedure, Situation } from "../../../../models/offline/procedure.ts";
import { type ChildResult, readResults } from "../../../../models/offline/read-results.ts";
import { taskText } from "../../../../models/offline/task-text.ts";
import { DOMAINS } from "../assessment.ts";
import { isPlainlyOurs, speaksOfCode } from "../domains/route-domain.ts";
import { hostileSign } from "../slots/cautions.ts";
import { MAX_CHARS, readRequest } from "../slots/request.ts";
import { faultTypeOf, gather, summaryOf } from "./findings.ts";
import { planRequest, type RequestPlan, secondStage, type Task } from "./plan-request.ts";

/** The agent that only spans the four domains: it takes every request. */
export const assistant: Procedure = { agents: ["assistant"], next: nextMove };

/** The main agent with a request that is plainly for these domains and speaks of no code. */
export const mainForDomains: Procedure = {
  agents: ["main"],
  takes: ({ task, later, delegates }) => {
    const names = delegates.map(({ name }) => name);
    return requestsIn({ task, later }).every((text) => {
      if (text.length > MAX_CHARS) return false;
      const { head } = readRequest(text);
      if (!isPlainlyOurs(head) || speaksOfCode(head)) return false;
      return planRequest(text).parts.every(({ domain }) => domain !== undefined && names.includes(domain));
    });
  },
  next: nextMove,
};

/** The last request decides what is said; those before it have been answered. */
function nextMove(situation: Situation): Move {
  let move: Move = { cannot: "nothing was asked", type: "params" };
  for (const text of requestsIn(situation)) {
    move = moveFor(text, situation);
    if ("calls" in move) return move;
  }
  return move;
}

function moveFor(text: string, situation: Situation): Move {
  if (text.length > MAX_CHARS)
    return {
      cannot: `the request has ${text.length} characters, which is too long for rules`,
      type: "params",
    };
  const hostile = hostileSign(text);
  if (hostile) return { cannot: hostile.why, type: "params" };
  const plan = planRequest(text);
  if (plan.parts.every(({ domain }) => domain === undefined)) return { cannot: beyond(text, situation) };
  const reading = stage(plan.reads, situation);
  if ("calls" in reading) return reading;
  const findings = gather(reading.results);
  const failed = reading.results.filter(({ success }) => !success);
  const wantsSlot = plan.writes.length > 0 && findings.busy !== undefined;
  if (failed.length > 0 || wantsSlot || reading.results.length < plan.reads.length) {
    const why = failed.length > 0 ? "something could not be looked up" : "the time is not free";
    return answer(
      plan,
      reading.results,
      plan.writes.map(({ text: part }) => `“${part}”, because ${why}`),
    );
  }
  const { now, timezone } = situation;
  const { tasks, cannot } = secondStage(
    plan,
    findings,
    now ? { now, ...(timezone && { timezone }) } : undefined,
  );
  if (cannot.length > 0) return answer(plan, reading.results, cannot);
  const writing = stage(tasks, situation);
  return "calls" in writing ? writing : answer(plan, [...reading.results, ...writing.results], []);
}

/** The calls of a stage that are still to make, or the results of all of them. */
function stage(
  tasks: readonly Task[],
  situation: Situation,
): { calls: OfflineCall[] } | { results: ChildResult[] } {
  const calls = callsFor(tasks, situation.tools);
  const open = calls.filter((call) => !answerTo(situation.calls, call));
  // Without a tool that knows what waits for what, one goes after the other.
  const inTurn = calls.length > 1 && tasks.some(({ dependsOn }) => dependsOn);
  const isStopped =
    inTurn &&
    situation.calls.some(
      ({ failed, result }) => failed || readResults(result).some(({ success }) => !success),
    );
  if (inTurn && open.length > 0 && !isStopped && !situation.wrapUp) return { calls: open.slice(0, 1) };
  if (!inTurn && open.length > 0 && !situation.wrapUp && !situation.condensed) return { calls: open };
  const results = calls.flatMap((call) => readResults(answerTo(situation.calls, call)?.result ?? ""));
  const isRunning = calls.some((call) =>
    /^\{"status":"running"/m.test(answerTo(situation.calls, call)?.result ?? ""),
  );
  const collected = situation.calls.filter(({ tool }) => tool === "collect_results");
  if (isRunning && !situation.wrapUp && collected.length < 1 && situation.tools.includes("collect_results"))
    return { calls: [{ tool: "collect_results", input: { wait: "all" } }] };
  const late = isRunning ? collected.flatMap(({ result }) => readResults(result)) : [];
  const refused = calls.flatMap((call) => refusal(call, situation));
  return { results: [...results, ...late, ...refused] };
}

function callsFor(tasks: readonly Task[], tools: readonly string[]): OfflineCall[] {
  if (tasks.length > 1 && tools.includes("delegate_many"))
    return [{ tool: "delegate_many", input: { tasks } }];
  return tasks.map(({ agent, task }) => ({ tool: "delegate", input: { agent, task } }));
}

/** A delegation that the host did not even begin. */
function refusal(call: OfflineCall, { calls }: Situation): ChildResult[] {
  const past = answerTo(calls, call);
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
function answer({ parts }: RequestPlan, results: readonly ChildResult[], left: readonly string[]): Move {
  const failed = results.filter(({ success }) => !success);
  const done = results.filter(({ success }) => success);
  const lines = [
    ...failed.map((result) => `Not done (${result.agent}): ${whyNot(result)}`),
    ...left.map((why) => `Not done: ${why}.`),
    ...done.map((result) =>
      results.length > 1 ? `${result.agent}: ${summaryOf(result)}` : summaryOf(result),
    ),
  ];
  const unclear = parts
    .filter(({ domain }) => domain === undefined)
    .map(({ text }) => `Not done: “${text}” is no work for mail, calendar, contacts or Slack.`);
  const all = [...unclear.filter((line) => !lines.includes(line)), ...lines];
  const text = (all.length > 1 ? all.map((line) => `- ${line}`) : all).join("\n") || "Nothing was done.";
  const isRefusal = failed.some((result) => faultTypeOf(result) === "permission");
  return done.length === 0 && !isRefusal ? { cannot: text, type: "params" } : { say: text };
}

function whyNot(result: ChildResult): string {
  const why = result.error || summaryOf(result);
  return /^not started: it needs/.test(why) ? "not begun, because the event was not made" : why;
}

function beyond(text: string, { delegates }: Situation): string {
  const names = delegates.map(({ name }) => name).filter((name) => DOMAINS.some((domain) => domain === name));
  const short = text.length > 120 ? `${text.slice(0, 119)}…` : text;
  return needsModel(
    `tell what this asks for (“${short}”)`,
    `hand requests to ${names.join(", ") || "nobody here"}`,
  );
}

/** What a person said, as opposed to the runtime. */
function requestsIn({ task, later }: Pick<Situation, "task" | "later">): string[] {
  const fromHost =
    /^(?:<|You are not done\.|You have made exactly|You have reached a limit|Your reply was empty)/;
  return [taskText(task), ...later.filter((text) => !fromHost.test(text.trim()))];
}
