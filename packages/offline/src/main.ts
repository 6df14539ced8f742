import { escapePattern } from "@retinue/code/symbols/code-symbol";
import {
  type ChildResult,
  type Delegate,
  findAnswer,
  findNextCalls,
  isFromHost,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  readAllResults,
  type Situation,
  taskText,
} from "./conversation.ts";
import { handOver, waitForRunning } from "./hand-over.ts";
import { chooseDomain, findMisreading } from "./intent-phases.ts";
import { cutShort, needsModel, shortenLine, stripHeadings, withoutLabel } from "./offline-words.ts";
import { fenceCode } from "./read-code.ts";
import { findIntent, type Intent, splitRequest, type WorkPart } from "./split-request.ts";
import { readNow } from "./when.ts";

/** One part of the request and who does it. */
type Step = WorkPart & { id: string; route: PartRoute };

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
    if (isGreeting(situation.task)) return { say: `I can ${describeAbilities(situation, true)}.` };
    const steps = planSteps(situation);
    if (steps.every(({ route }) => route.kind === "nobody"))
      return { cannot: explainRefusal(steps, situation) };
    return (
      findNextCalls(situation, [() => planCalls(steps, situation)]) ??
      waitForRunning(situation) ??
      composeReply(steps, situation)
    );
  },
};

/** The parts of the task and of what the person said later, each with its route. */
function planSteps(situation: Situation): Step[] {
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

/** Who does a part: one of the agent's own tools, a delegate, or nobody. */
export type PartRoute =
  | { kind: "call"; call: OfflineCall }
  | { kind: "delegate"; agent: string; why: string; task?: string }
  | { kind: "nobody"; intent: Intent | undefined };

/** The agents that do each kind of work by rules; writing is what rules cannot do. */
const ROLES: Readonly<Partial<Record<Intent, string>>> = {
  look: "researcher",
  review: "reviewer",
  test: "tester",
  plan: "planner",
  debug: "debugger",
};

/** Picks who does a part: whom it names, else one call that answers it, else the agent for such work. */
export function routePart(
  part: string,
  { tools, delegates, now }: Pick<Situation, "tools" | "delegates" | "now">,
): PartRoute {
  const has = (agent: string | undefined) =>
    agent !== undefined && delegates.some(({ name }) => name === agent);
  const named = findNamed(part, delegates);
  if (named) return { kind: "delegate", ...named, why: "you named it" };
  const call = findDirectCall(part, tools);
  if (call) return { kind: "call", call };
  const domain = chooseDomain(part, readNow({ now }));
  if (domain && has(domain)) return { kind: "delegate", agent: domain, why: "its words fit" };
  const intent = findIntent(part);
  const role = intent && ROLES[intent];
  if (role && has(role)) return { kind: "delegate", agent: role, why: `it asks to ${intent}` };
  return { kind: "nobody", intent };
}

/** `ask the reviewer to …`, `use researcher`, `@tester`, with what it is asked; a name in passing does not count. */
function findNamed(
  part: string,
  delegates: readonly Delegate[],
): { agent: string; task?: string } | undefined {
  for (const { name } of delegates) {
    const spelled = escapePattern(name).replace(/[-_]/g, "[-_ ]");
    const asked = new RegExp(
      `^(?:please )?(?:ask|use|have|let|tell|get) (?:the )?${spelled}(?: agent)? to (.+)$|(?:^|\\s)@${spelled}\\b`,
      "is",
    ).exec(part);
    if (asked) return { agent: name, task: asked[1] };
  }
  return undefined;
}

/** A path as people write it: with a slash or an ending, quoted or not. */
const PATH = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w@-]*\\.[\\w-]+|(?:[\\w.@-]+\\/)+[\\w.@-]*)[`\"'”]?";
const FOLDER = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w.@-]*[\\w@-]\\/?|\\.)[`\"'”]?";
const QUOTED = '[`"“]([^`"”]+)[`"”]';

type CallRule = { tool: string; pattern: RegExp; input: (...groups: string[]) => OfflineCall["input"] };

const callRule = (tool: string, pattern: string, input: CallRule["input"]): CallRule => ({
  tool,
  pattern: new RegExp(`^(?:please )?(?:${pattern})\\s*[.?!]*$`, "i"),
  input,
});

/** Requests that one call of a tool answers. */
const CALL_RULES: readonly CallRule[] = [
  callRule("glob", "(?:find|list|show)(?: all)? [`']?(\\*\\*?[\\w./*{},-]+)[`']?(?: files)?", (pattern) => ({
    pattern,
  })),
  callRule(
    "ls",
    `(?:list|show)(?: me)? (?:the |all )?files(?: here| in (?:the )?${FOLDER})?|(?:what|which) files are (?:here|there|in (?:the )?${FOLDER})`,
    (listed, asked) => ({ path: listed ?? asked }),
  ),
  callRule("read", `(?:read|show(?: me)?|cat|open) (?:the )?(?:file )?${PATH}`, (path) => ({ path })),
  callRule(
    "grep",
    `(?:grep|search) (?:for )?${QUOTED}(?: in ${FOLDER})?|grep (\\S+)`,
    (quoted, path, word) => ({ pattern: quoted ?? word, fixed: true, path }),
  ),
  callRule(
    "write",
    `(?:write|save) ${QUOTED} (?:to|into) (?:the |a )?(?:new )?(?:file )?${PATH}`,
    (content, path) => ({ path, content: `${content}\n` }),
  ),
];

/** The one call that answers a part, if there is such a call and the tool for it is offered. */
function findDirectCall(part: string, tools: readonly string[]): OfflineCall | undefined {
  for (const { tool, pattern, input } of CALL_RULES) {
    const match = tools.includes(tool) ? pattern.exec(part.trim()) : null;
    if (match) return { tool, input: input(...match.slice(1)) };
  }
  return undefined;
}

/** Everything at once: own calls, and the delegations with what they wait for. */
function planCalls(steps: readonly Step[], situation: Situation): OfflineCall[] {
  const own = steps.flatMap(({ route }) => (route.kind === "call" ? [route.call] : []));
  const delegated = steps.flatMap((step) =>
    step.route.kind === "delegate" ? [{ ...step, ...step.route, task: step.route.task ?? step.text }] : [],
  );
  const ids = new Set(delegated.map(({ id }) => id));
  const tasks = delegated.map(({ id, agent, task, after }) => {
    const dependsOn = after.flatMap((index) => steps[index]?.id ?? []).filter((each) => ids.has(each));
    return {
      id,
      agent,
      task: standalone(task, after, steps),
      dependsOn: dependsOn.length > 0 ? dependsOn : undefined,
    };
  });
  return [...own, ...handOver(tasks, situation)];
}

/** A task that can be read alone: what it points back to is named. */
function standalone(text: string, after: readonly number[], steps: readonly Step[]): string {
  const before = after.flatMap((index) => steps[index]?.text ?? []);
  return before.length > 0 ? `${text} (this follows on: ${before.join("; ")})` : text;
}

function composeReply(steps: readonly Step[], situation: Situation): OfflineMove {
  const results = readAllResults(situation);
  const outcomes = steps.map((step) => findOutcome(step, steps, results, situation));
  const failed = outcomes.filter(({ ok }) => !ok);
  if (failed.length === outcomes.length && !situation.wrapUp) return { cannot: explainFailures(failed) };
  return { say: composeAnswer(outcomes, listAssumptions(steps)) };
}

/** One part that needs a model is told as it was said; it is the same model's own word. */
function explainFailures(failed: readonly PartOutcome[]): string {
  const [only, ...others] = failed;
  if (only && others.length === 0 && only.body.includes("rules, not weights")) return only.body;
  return failed.map(({ text, by, body }) => `“${text}” was not done (${by}): ${body}`).join("\n");
}

function findOutcome(
  step: Step,
  steps: readonly Step[],
  results: readonly ChildResult[],
  situation: Situation,
): PartOutcome {
  const { text, route } = step;
  if (route.kind === "call") return readCallOutcome(text, route.call, situation.calls);
  if (route.kind === "delegate") {
    const same = steps.filter((each) => each.route.kind === "delegate" && each.route.agent === route.agent);
    const unnamed = results.filter(({ taskId, agent }) => taskId === undefined && agent === route.agent);
    const result = results.find(({ taskId }) => taskId === step.id) ?? unnamed[same.indexOf(step)];
    if (result) return readChildOutcome(text, result);
    const refused = situation.calls.find(({ tool, failed }) => failed && tool.startsWith("delegate"));
    return { text, by: route.agent, ok: false, body: refused?.result ?? "it was not reached", files: [] };
  }
  const body = needsModel(`do this: ${text}`, describeAbilities(situation));
  return { text, by: "nobody", ok: false, body, files: [] };
}

function readCallOutcome(text: string, call: OfflineCall, calls: readonly PastCall[]): PartOutcome {
  const past = findAnswer(calls, call);
  const ok = past !== undefined && !past.failed;
  const path = call.tool === "write" && ok ? [String(call.input.path)] : [];
  const result = past?.result ?? "it was not reached";
  const isLines = ok && call.tool !== "write";
  const body = isLines ? fenceCode(result.trimEnd().split("\n")).join("\n") : result;
  return { text, by: call.tool, ok, body, files: path };
}

function listAssumptions(steps: readonly Step[]): string[] {
  const notes: string[] = [];
  if (steps.length > 1) notes.push(`I read this as ${steps.length} parts`);
  for (const { text, after, route } of steps) {
    const short = cutShort(text, 60);
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

function describeAbilities({ delegates, tools }: Situation, inDetail = false): string {
  const own = ["read", "ls", "grep", "glob"].filter((name) => tools.includes(name));
  const names = delegates.map(({ name, description }) =>
    inDetail ? `${name} (${description.split(/[.;]/, 1)[0]})` : name,
  );
  const parts = [
    ...(own.length > 0 ? [`look into this project's files (${own.join(", ")})`] : []),
    ...(names.length > 0 ? [`hand plainly worded parts of a request to ${names.join(", ")}`] : []),
  ];
  return parts.join(" and ") || "answer only by telling you this: it has neither tools nor sub-agents here";
}

function explainRefusal(steps: readonly Step[], situation: Situation): string {
  const writing = steps.some(({ route }) => route.kind === "nobody" && route.intent === "write");
  const asked = steps.map(({ text }) => text).join("; ") || situation.task;
  const what = writing ? "write or change code or prose" : "tell what this asks for";
  const why = findMisreading(asked, readNow(situation));
  return [needsModel(`${what} (“${cutShort(asked, 120)}”)`, describeAbilities(situation)), why]
    .filter(Boolean)
    .join(" ");
}

/** What came of one part of a request. */
type PartOutcome = {
  text: string;
  /** Who did it, in words: an agent's name or a tool's. */
  by: string;
  ok: boolean;
  body: string;
  files: readonly string[];
};

/** The outcome of a part that a child did. */
function readChildOutcome(text: string, result: ChildResult): PartOutcome {
  const { agent: by, files } = result;
  if (!result.success && !result.partial)
    return { text, by, ok: false, body: result.error || result.summary || "it failed without a word", files };
  const body = stripHeadings(withoutLabel(result.details));
  return { text, by, ok: true, body: result.partial ? `(cut short by a limit)\n${body}` : body, files };
}

/** The answer to a request: what was done in the order it was asked, what was not, and what was assumed. */
function composeAnswer(outcomes: readonly PartOutcome[], assumed: readonly string[]): string {
  const done = outcomes.filter(({ ok }) => ok);
  const open = outcomes.filter(({ ok }) => !ok);
  const files = [...new Set(outcomes.flatMap((outcome) => outcome.files))];
  const sections: string[] = [];
  if (outcomes.length > 1) sections.push(`${done.length} of ${outcomes.length} parts are done.`);
  if (open.length > 0)
    sections.push(...open.map(({ text, by, body }) => `Not done: ${quoteLine(text)} (${by}): ${body}`));
  for (const outcome of done) {
    const head = `**${outcomes.indexOf(outcome) + 1}. ${quoteLine(outcome.text)}** (${outcome.by})\n\n`;
    sections.push(`${outcomes.length > 1 ? head : ""}${outcome.body}`);
  }
  if (files.length > 0) sections.push(`Files changed: ${files.join(", ")}`);
  if (assumed.length > 0) sections.push(`Assumed: ${assumed.join("; ")}.`);
  return sections.join("\n\n");
}

function quoteLine(text: string): string {
  return `“${shortenLine(text, 160)}”`;
}
