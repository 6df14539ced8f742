import { didYouMean } from "../../agents/closest.ts";
import { messageOf } from "../../schema/error.ts";
import type { Decision, Target } from "../../schema/rights.ts";
import { showNumber } from "../../show/measures.ts";
import { describeFault } from "../../tools/describe-shape.ts";
import { type AnyTool, isLasting, isOffered, type Tool } from "../../tools/tool.ts";
import { excerpt, MAX_RESULT_CHARS } from "../../tools/truncate.ts";
import { takePath } from "../claims.ts";
import type { NotedCall } from "../earlier-calls.ts";
import { readShown } from "../known-addresses.ts";
import { loopPrompt } from "../load-prompt.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import { tellsOfProject } from "../project-text.ts";
import type { Run } from "../run.ts";
import { askTool, waitFor } from "../wait-for.ts";
import { approveIfNeeded } from "./approve-call.ts";
import { chainOf, type Performed, performCall } from "./perform-call.ts";
import { type Effects, openCall, recordRefusal } from "./record-call.ts";

/** A call that passed every check. */
export type Admitted = Touching & Pick<Performed, "carrying" | "approvedBy">;
/** Why a call is not made. */
export type Refused = { outcome: "error" | "denied"; text: string; effects?: Effects };
/** A call of which it is known what it touches. */
type Touching = {
  tool: Tool<unknown>;
  input: unknown;
  targets: readonly Target[];
  noted?: NotedCall;
};

const HOLDS_SECRET = "permission denied: the input holds a secret, and secrets do not leave";
const TOO_MUCH_ENCODED =
  "permission denied: the input holds more encoded text than can be searched for secrets; send less, or send it as it is";
const UNCOUNTED: Effects = { uncounted: true };

/**
 * The one way to a tool, for every flow: validate, decide, approve, count, open its row, execute, record the
 * result. Never throws: what goes wrong is an answer for the model.
 */
export async function dispatch(run: Run, call: ToolCall): Promise<CallResult> {
  const admitted = await admitCall(run, call);
  return "outcome" in admitted ? refuseCall(run, call, admitted) : executeCall(run, call, admitted);
}

/** Looks whether a call may be made; `tool` is the one that answers it, if not the run's own of that name. */
export function admitCall(
  run: Run,
  call: ToolCall,
  tool = run.tools.get(call.tool),
): Promise<Admitted | Refused> {
  return admit(run, call, tool as Tool<unknown> | undefined).catch(
    (thrown): Refused => ({ outcome: "error", text: unchecked(messageOf(thrown)) }),
  );
}

/** Answers a call that is not made. */
export function refuseCall(run: Run, call: ToolCall, refused: Refused): CallResult {
  const text = run.host.redactor.redact(refused.text);
  recordRefusal(run, call, { ...refused, text });
  return { callId: call.callId, tool: call.tool, text, outcome: refused.outcome };
}

/** Why a call could not be checked; what a tool says as JSON stays as it is, for readers of JSON. */
function unchecked(message: string): string {
  return message.startsWith("{") ? message : `the call could not be checked: ${message}`;
}

async function admit(run: Run, call: ToolCall, tool: Tool<unknown> | undefined): Promise<Admitted | Refused> {
  if (!run.host.guards.isFinished(call))
    return { outcome: "error", text: unfinished(call), effects: UNCOUNTED };
  if (!tool) return { ...absent(run, call.tool), effects: UNCOUNTED };
  const parsed = await run.host.guards.validate(tool as AnyTool, call.rawInput ?? call.input);
  if (!parsed.ok) {
    const text = `invalid input for '${call.tool}': ${describeFault(parsed.message, tool as AnyTool, call.used)}`;
    return { outcome: "error", text, effects: UNCOUNTED };
  }
  const wrong = tool.check && (await tool.check(parsed.value));
  if (wrong) return { outcome: "error", text: wrong, effects: UNCOUNTED };
  if (call.behind !== undefined && isLasting(tool, parsed.value)) {
    const text = `'${tool.name}' was not called: before it in the same reply ${call.behind}; put that right, then call it again if that is still meant`;
    return { outcome: "error", text, effects: UNCOUNTED };
  }
  const over = call.byHost || call.resumed?.counted ? null : overLimit(run, tool.name);
  if (over) {
    const effects: Effects = run.overToolCalls ? { uncounted: true, over: true } : UNCOUNTED;
    return { outcome: "error", text: over, effects };
  }

  const { projectDir, workspaceDir, cwd } = run;
  const noted = tool.confirm && run.session.earlier.note(tool.name, parsed.value);
  if (tool.replay === "lookup") call.reached = null;
  const roots = { projectDir, workspaceDir, cwd, takePath: (path: string) => takePath(run, path) };
  const touched = tool.access(parsed.value, roots);
  // The host's own checks are made for a stopped run as well.
  const targets = await (call.byHost ? touched : askTool(run, touched));
  if (tool.replay === "lookup") call.reached = addressesIn(targets);
  const touching = { tool, input: parsed.value, targets, ...(noted && { noted }) };
  const judged = await judge(run, call, touching);
  if (noted && "outcome" in judged) run.session.earlier.forget(noted);
  return judged;
}

const WHY_UNFINISHED: Readonly<Record<string, string>> = {
  "content-filter": "the provider's content filter stopped your reply",
  error: "your reply ended with an error of the provider",
};

/** Why a call of a reply that is not whole was not made, and how to go on. */
function unfinished({ unfinished: end }: ToolCall): string {
  if (end?.finish === "length") return loopPrompt("cut-reply", { limit: showNumber(end.maxOutputTokens) });
  const why = WHY_UNFINISHED[end?.finish ?? ""] ?? "your reply did not end as a whole one does";
  return loopPrompt("stopped-reply", { why });
}

/** What the rules and, where they leave it open, a person say to a call. */
async function judge(run: Run, call: ToolCall, touching: Touching): Promise<Admitted | Refused> {
  const { tool, input, targets } = touching;
  const decision = decideCall(run, tool, targets);
  if (decision.verdict === "deny") return { outcome: "denied", text: denial(tool, decision) };

  const outbound = typeof tool.outbound === "function" ? tool.outbound(input) : tool.outbound;
  const reachesOutside = outbound || targets.some(({ kind }) => kind === "host" || kind === "recipient");
  const heldSecret = call.rawInput !== undefined || call.redacted === true;
  const hidden = heldSecret || !reachesOutside ? "none" : run.host.redactor.findHidden(input);
  if (run.host.guards.leaksSecret(heldSecret || hidden !== "none", reachesOutside))
    return { outcome: "denied", text: hidden === "too much" ? TOO_MUCH_ENCODED : HOLDS_SECRET };

  const said = typeof tool.risk === "function" ? tool.risk(input) : tool.risk;
  const risk = await (call.byHost ? said : askTool(run, said));
  if (run.session.readOnly && risk !== "low")
    return { outcome: "denied", text: "permission denied: plan mode only reads" };
  const missing = await run.host.workplace.missingBefore(run, tool.name);
  if (missing) return { outcome: "error", text: missing };
  if (await bringsUntrusted(run, call, touching)) await taint(run, tool.name);
  const requests = await askTool(run, findRequests(run, touching));
  const { tainted, privateData } = run;
  const known = { tainted, privateData, projectText: run.session.projectText.hasEntered };
  const composed = run.host.guards.composedRequests(known, requests, run.session.addresses);
  const asked = { callId: call.callId, ...touching, decision, risk, outbound, composed };
  const approval = await approveIfNeeded(run, asked);
  if (approval && !approval.allowed) return { outcome: "denied", text: approval.text };
  const carrying = knowRequests(run, call, requests, composed);
  const { noted } = touching;
  const approved = approval && { approvedBy: approval.text };
  return { tool, input, targets, carrying, ...(noted && { noted }), ...approved };
}

/** What the rules say; a tool that is judged as another is bound by those that ask about or deny its own name as well. */
function decideCall(
  run: Run,
  { name, judgedAs, groups }: Tool<unknown>,
  targets: readonly Target[],
): Decision {
  const { decide } = run.host.guards;
  const chain = chainOf(run, targets);
  const decision = decide(chain, { tool: judgedAs ?? name, groups, targets });
  if (judgedAs === undefined || decision.verdict === "deny") return decision;
  const bounds = chain.map(({ allow: _, ...bound }) => bound);
  const own = decide(bounds, { tool: name, groups, targets });
  return own.verdict === "allow" ? decision : own;
}

/** What an allowed call asks the web for is known from now on; gives what of it may carry what runs know. */
function knowRequests(
  { session: { addresses } }: Run,
  call: ToolCall,
  requests: readonly string[],
  composed: readonly string[],
): readonly string[] {
  if (requests.length === 0) return [];
  const mayCarry = (request: string) => composed.includes(request) || addresses.carries(request);
  const carrying = requests.filter(mayCarry);
  const free = requests.filter((request) => !mayCarry(request));
  addresses.add(free, false);
  addresses.add(carrying, true);
  call.requested = { free, carrying };
  return carrying;
}

/**
 * Whether a call lets something into the run that a tainted run wrote: in a file that it names, or, as with commands and
 * git, which read what they like, anywhere they reach. Files that a search finds are known only afterwards.
 */
async function bringsUntrusted(run: Run, call: ToolCall, { tool, targets }: Touching): Promise<boolean> {
  if (run.tainted) return false;
  const files = targets.flatMap((target) => (target.kind === "path" ? [target.path] : []));
  const readsAnything = targets.some(({ kind }) => kind === "command") || tool.groups.includes("git");
  const found =
    (readsAnything && (await run.host.untrusted.reach(run))) || (await run.host.untrusted.hold(files));
  if (!run.host.guards.taintsReader(found)) return false;
  call.broughtUntrusted = true;
  return true;
}

/** What a call asks the web for; a tool that reaches hosts and does not say for what may put anything into it. */
function findRequests(
  run: Run,
  { tool, input, targets }: Touching,
): readonly string[] | Promise<readonly string[]> {
  if (tool.requests) return tool.requests(input, run);
  return targets.some(({ kind }) => kind === "host") ? [`${tool.name} ${JSON.stringify(input)}`] : [];
}

/** The addresses that a call reaches, where it touches nothing else. */
function addressesIn(targets: readonly Target[]): readonly string[] | undefined {
  const reached = targets.flatMap((target) => (target.kind === "recipient" ? [target.address] : []));
  return reached.length === targets.length ? reached : undefined;
}

/** A tool that the run was not given: with the rule that keeps it away, if there is such a tool at all. */
function absent(run: Run, tool: string): Refused {
  const names = [...run.tools].flatMap(([name, held]) => (isOffered(name, held) ? [name] : []));
  const available = `available: ${names.join(", ") || "none"}`;
  const groups = run.host.tools.get(tool)?.groups;
  const decision = groups && run.host.guards.decide(chainOf(run, []), { tool, groups, targets: [] });
  if (decision?.verdict === "deny")
    return { outcome: "denied", text: `permission denied: ${decision.reason} (${available})` };
  return {
    outcome: "error",
    text: `there is no tool '${tool}'${didYouMean(tool, names) || ";"} ${available}`,
  };
}

function denial(tool: Tool<unknown>, { reason }: Decision): string {
  return tool.delegates
    ? JSON.stringify({ error: { type: "not_allowed", message: reason } })
    : `permission denied: ${reason}`;
}

function overLimit(run: Run, tool: string): string | null {
  const { toolCalls, perTool } = run.limits;
  const used = run.toolCounts.get(tool) ?? 0;
  const own = Object.hasOwn(perTool, tool) ? perTool[tool] : undefined;
  if (run.toolCalls >= toolCalls) run.overToolCalls = true;
  if (run.overToolCalls) return `the limit of ${toolCalls} tool calls is used up; report what you have`;
  if (own !== undefined && used >= own)
    return `the limit of ${own} calls of '${tool}' is used up; go on without it`;
  run.toolCalls++;
  run.toolCounts.set(tool, used + 1);
  return null;
}

/** Makes a call that was admitted, and records what came of it. */
export async function executeCall(run: Run, call: ToolCall, admitted: Admitted): Promise<CallResult> {
  const { tool } = admitted;
  const key = await cacheKey(run, admitted);
  const cached = key ? run.session.cache.get(key) : undefined;
  if (cached) {
    const row = openCall(run, call, { tool, approvedBy: admitted.approvedBy });
    const { text, tainted } = cached;
    const effects = absorb(run, admitted, {
      tainted,
      isPublic: tellsPublic(admitted),
      isError: false,
      shown: [],
    });
    row.close({ outcome: "cached", text, effects });
    return { callId: call.callId, tool: tool.name, text: cached.text, outcome: "cached" };
  }
  run.toolsUsed.add(tool.name);
  const holdsSlot = !tool.delegates && !call.byHost;
  if (holdsSlot && !run.slot.tryEnter() && !(await waitFor(run, "slot", run.slot.enter(run.signal)))) {
    const text = "the run was stopped before this call began";
    recordRefusal(run, call, { outcome: "error", text });
    return { callId: call.callId, tool: tool.name, text, outcome: "error" };
  }
  const row =
    tool.delegates === "self-recorded"
      ? null
      : openCall(run, call, { tool, approvedBy: admitted.approvedBy });
  const { output, effects } = await performCall(run, call, {
    ...admitted,
    rowId: row?.messageId ?? run.turnMessageId,
    taint: () => taint(run, tool.name),
    refuse: async (nested) => {
      const judged = await admitCall(run, nested);
      return "outcome" in judged ? judged.text : null;
    },
  });
  if (holdsSlot) run.slot.leave();
  if (admitted.noted) admitted.noted.files = effects.files?.map(([path]) => path) ?? [];
  const text = `${await shorten(run, call, run.host.redactor.redact(output.text))}${noteIgnored(call)}`;
  const outcome = output.isError ? "error" : "ok";
  const tainted = tool.untrusted || output.tainted === true;
  const isPublic = tellsPublic(admitted) && output.privateData !== true;
  const shown = isPublic && tool.requests ? readShown(output.shown ?? [], admitted.carrying) : [];
  const taken = absorb(run, admitted, { tainted, isPublic, isError: outcome === "error", shown });
  const { children } = output;
  if (row)
    row.close({
      outcome,
      text,
      effects: { ...effects, ...taken, ...(children && { children }) },
    });
  else if (!output.recorded && !run.interruption) recordRefusal(run, call, { outcome: "error", text });
  else tellAnswer(run, { callId: call.callId, text, isError: outcome === "error" });
  if (key && outcome === "ok") run.session.cache.set(key, { text, tainted });
  return { callId: call.callId, tool: tool.name, text, outcome };
}

function noteIgnored({ ignored }: ToolCall): string {
  return ignored ? `\n(not known here, and ignored: ${ignored.join(", ")})` : "";
}

/** Tells watchers the answer to a call that has no row of its own, once what came before it is on disk. */
function tellAnswer(run: Run, answer: { callId: string; text: string; isError: boolean }): void {
  const { runId } = run;
  const tell = () => run.session.emit({ type: "delegation.answered", runId, ...answer });
  run.session.journal.committed().then(tell, () => {});
}

/** Whether the answer to a call can hold only what is public: not that of a page that is a file of this machine. */
function tellsPublic({ tool, targets }: Touching): boolean {
  if (tool.delegates === "program") return false;
  return tool.isPublic && !targets.some((target) => target.kind === "path" && target.mode === "read");
}

/** Lets a run know what an answer tells it, and says what its row must keep of that. */
export function absorb(
  run: Run,
  admitted: Admitted,
  answer: { tainted: boolean; isPublic: boolean; isError: boolean; shown: readonly string[] },
): Effects {
  const { tool, carrying } = admitted;
  const { tainted, isPublic, isError, shown } = answer;
  // What is noted counts for what lies there already, too.
  if (tainted) void taint(run, tool.name);
  if (!isPublic) run.privateData = true;
  if (!isPublic && tellsOfProject(admitted, isError)) run.session.projectText.enter();
  run.session.addresses.add(shown, carrying.length > 0);
  const learned = shown.length > 0 && { shown };
  return { ...(tainted && { tainted }), ...(isPublic && { public: isPublic }), ...learned };
}

async function cacheKey(run: Run, admitted: Admitted): Promise<string | null> {
  const { tool, input } = admitted;
  if (tool.replay !== "safe" || !tool.fileState) return null;
  const state = await tool.fileState(input, run).catch(() => undefined);
  return state === undefined ? null : JSON.stringify([tool.name, input, state]);
}

async function shorten(run: Run, call: ToolCall, text: string): Promise<string> {
  if (text.length <= MAX_RESULT_CHARS) return text;
  const where = await run.host.workplace.saveArtefact(run, `${call.tool}-${call.callId}.txt`, text).then(
    (path) => `the whole is in ${path}`,
    (thrown) => `the whole could not be saved: ${messageOf(thrown)}`,
  );
  return excerpt(text, MAX_RESULT_CHARS, where);
}

/** Marks a run that untrusted text has entered. */
export async function taint(run: Run, tool: string): Promise<void> {
  if (run.tainted) return;
  run.tainted = true;
  const noted = run.host.untrusted.taintWorkspace(run);
  run.session.emit({ type: "run.tainted", runId: run.runId, tool });
  await noted;
}
