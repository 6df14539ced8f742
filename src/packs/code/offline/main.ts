import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, PastCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { type ChildResult, readResults } from "../../../models/offline/read-results.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import { research } from "../research/research.ts";
import { composeAnswer, type Outcome, outcomeOfChild, reportBody } from "./compose-answer.ts";
import { fenceCode } from "./fence-code.ts";
import { type Route, routePart } from "./route-part.ts";
import { type Part, splitRequest } from "./split-request.ts";

/** One part of the request and who does it. */
type Step = Part & { id: string; route: Route };

/**
 * The main agent: splits a request, hands its parts to who can do them, and puts the answers together. What
 * general-purpose could do it does itself, since both would play by the same rules.
 */
export const main: Procedure = {
  agents: ["main"],
  next(given) {
    const situation = {
      ...given,
      delegates: given.delegates.filter(({ name }) => name !== "general-purpose"),
    };
    if (isGreeting(situation.task)) return { say: `I can ${abilities(situation)}.` };
    const steps = planOf(situation);
    if (steps.length === 0 || steps.every(({ route }) => route.kind === "nobody"))
      return { cannot: refusal(steps, situation) };
    const searching = searchOf(steps, situation);
    const calls = callsFor(steps, situation).filter((call) => !answerTo(situation.calls, call));
    if (searching && "calls" in searching) calls.push(...searching.calls);
    if (calls.length > 0 && !situation.wrapUp && !situation.condensed) return { calls };
    return collect(situation) ?? answer(steps, searching, situation);
  },
};

/** The parts of the task and of what the person said later, each with its route. */
function planOf(situation: Situation): Step[] {
  const requests = [situation.task, ...situation.later.filter((text) => !isFromHost(text))];
  const steps: Step[] = [];
  for (const request of requests) {
    const before = steps.length;
    for (const { text, after } of splitRequest(taskText(request))) {
      const id = `part-${steps.length + 1}`;
      const indexes = after.map((index) => index + before);
      steps.push({ id, text, after: indexes, route: routePart(text, situation) });
    }
  }
  return steps;
}

/** Questions that no delegate takes are looked into with the agent's own tools, the way a researcher does it. */
function searchOf(steps: readonly Step[], situation: Situation): Move | null {
  const questions = steps.flatMap(({ text, route }) => (route.kind === "self" ? [text] : []));
  return questions.length > 0 ? research({ ...situation, task: questions.join("\n") }) : null;
}

/** What the runtime says in a run, as opposed to a person. */
function isFromHost(text: string): boolean {
  return /^(?:<|You are not done\.|You have made exactly|You have reached a limit|Your reply was empty)/.test(
    text.trim(),
  );
}

/** Everything at once: own calls, and the delegations with what they wait for. */
function callsFor(steps: readonly Step[], { tools }: Situation): OfflineCall[] {
  const own = steps.flatMap(({ route }) => (route.kind === "call" ? [route.call] : []));
  const delegated = steps.flatMap((step) =>
    step.route.kind === "delegate" ? [{ ...step, agent: step.route.agent }] : [],
  );
  const ids = new Set(delegated.map(({ id }) => id));
  const tasks = delegated.map(({ id, agent, text, after }) => {
    const dependsOn = after.flatMap((index) => steps[index]?.id ?? []).filter((each) => ids.has(each));
    return { id, agent, task: standalone(text, after, steps), ...(dependsOn.length > 0 && { dependsOn }) };
  });
  const [first] = tasks;
  if (!first) return own;
  if (tasks.length > 1 && tools.includes("delegate_many"))
    return [...own, { tool: "delegate_many", input: { tasks } }];
  return [...own, ...tasks.map(({ agent, task }) => ({ tool: "delegate", input: { agent, task } }))];
}

/** A task that can be read alone: what it points back to is named. */
function standalone(text: string, after: readonly number[], steps: readonly Step[]): string {
  const before = after.flatMap((index) => steps[index]?.text ?? []);
  return before.length > 0 ? `${text} (this follows on: ${before.join("; ")})` : text;
}

/** Waits for children that were still running when the last call returned. */
function collect({ calls, tools, wrapUp }: Situation): Move | null {
  const last = calls.at(-1);
  const running = calls.some(({ result }) => /^\{"status":"running"/m.test(result));
  if (wrapUp || !running || last?.tool === "collect_results" || !tools.includes("collect_results"))
    return null;
  return { calls: [{ tool: "collect_results", input: { wait: "all" } }] };
}

function answer(steps: readonly Step[], searching: Move | null, situation: Situation): Move {
  const results = [...situation.calls.map(({ result }) => result), ...situation.later].flatMap(readResults);
  const others = steps.filter(({ route }) => route.kind !== "self");
  const outcomes = others.map((step) => outcomeOf(step, steps, results, situation));
  if (searching) outcomes.push(outcomeOfSearch(steps, searching));
  const failed = outcomes.filter(({ ok }) => !ok);
  if (failed.length === outcomes.length && !situation.wrapUp) return { cannot: whyNot(failed) };
  return { say: composeAnswer(outcomes, assumptions(steps)) };
}

/** One part that needs a model is told as it was said; it is the same model's own word. */
function whyNot(failed: readonly Outcome[]): string {
  const [only, ...others] = failed;
  if (only && others.length === 0 && only.body.includes("rules, not weights")) return only.body;
  return failed.map(({ text, by, body }) => `“${text}” was not done (${by}): ${body}`).join("\n");
}

function outcomeOf(
  step: Step,
  steps: readonly Step[],
  results: readonly ChildResult[],
  situation: Situation,
): Outcome {
  const { text, route } = step;
  if (route.kind === "call") return outcomeOfCall(text, route.call, situation.calls);
  if (route.kind === "delegate") {
    const same = steps.filter((each) => each.route.kind === "delegate" && each.route.agent === route.agent);
    const unnamed = results.filter(({ taskId, agent }) => taskId === undefined && agent === route.agent);
    const result = results.find(({ taskId }) => taskId === step.id) ?? unnamed[same.indexOf(step)];
    if (result) return outcomeOfChild(text, result);
    const refused = situation.calls.find(({ tool, failed }) => failed && tool.startsWith("delegate"));
    return { text, by: route.agent, ok: false, body: refused?.result ?? "it was not reached", files: [] };
  }
  const body = needsModel(`do this: ${text}`, abilities(situation));
  return { text, by: "nobody", ok: false, body, files: [] };
}

function outcomeOfSearch(steps: readonly Step[], move: Move): Outcome {
  const text = steps.flatMap((step) => (step.route.kind === "self" ? [step.text] : [])).join("; ");
  const body =
    "cannot" in move ? move.cannot : "say" in move && move.say ? reportBody(move.say) : "it was not finished";
  return { text, by: "own search", ok: "say" in move, body, files: [] };
}

function outcomeOfCall(text: string, call: OfflineCall, calls: readonly PastCall[]): Outcome {
  const past = answerTo(calls, call);
  const ok = past !== undefined && !past.failed;
  const path = call.tool === "write" && ok ? [String(call.input.path)] : [];
  const result = past?.result ?? "it was not reached";
  const body = ok && GIVES_LINES.has(call.tool) ? fenceCode(result.trimEnd().split("\n")).join("\n") : result;
  return { text, by: call.tool, ok, body, files: path };
}

/** Tools whose results are lines of files and names, and no prose. */
const GIVES_LINES: ReadonlySet<string> = new Set(["read", "grep", "glob", "ls", "git", "git_diff", "shell"]);

function assumptions(steps: readonly Step[]): string[] {
  const notes: string[] = [];
  if (steps.length > 1) notes.push(`I read this as ${steps.length} parts`);
  for (const { text, after, route } of steps) {
    const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
    if (route.kind === "delegate") notes.push(`“${short}” is work for ${route.agent} (${route.why})`);
    if (after.length > 0)
      notes.push(`“${short}” builds on part ${after.map((index) => index + 1).join(", ")}`);
  }
  return notes;
}

function isGreeting(task: string): boolean {
  return /^\s*(?:hi|hello|hey|help|good (?:morning|evening|day)|who are you|what (?:can|do) you do|what are you)\b[^.?!]{0,40}[.?!]*\s*$/i.test(
    task,
  );
}

function abilities({ delegates, tools }: Situation): string {
  const own = ["read", "ls", "grep", "glob"].filter((name) => tools.includes(name));
  const names = delegates.map(({ name, description }) => `${name} (${description.split(/[.;]/, 1)[0]})`);
  const parts = [
    ...(own.length > 0 ? [`look into this project's files (${own.join(", ")})`] : []),
    ...(names.length > 0 ? [`hand parts of a request to ${names.join(", ")}`] : []),
  ];
  return parts.join(" and ") || "answer only by telling you this: it has neither tools nor sub-agents here";
}

function refusal(steps: readonly Step[], situation: Situation): string {
  const writing = steps.some(({ route }) => route.kind === "nobody" && route.intent === "write");
  const asked = steps.map(({ text }) => text).join("; ") || situation.task;
  const short = asked.length > 120 ? `${asked.slice(0, 119)}…` : asked;
  const what = writing
    ? "write or change code or prose"
    : "tell what this asks for, or it needs judgement that rules do not have";
  return needsModel(`${what} (“${short}”)`, abilities(situation));
}
