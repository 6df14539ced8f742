import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Agent } from "@retinue/core/schema/agent";

/** What a procedure knows of the agent it plays. */
export type OfflineAgent = Pick<Agent, "name" | "aliases" | "description">;

/** One call that the agent has made, and its answer. */
export type PastCall = {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Empty until it is answered. */
  readonly result: string;
  readonly failed: boolean;
};

/** An agent that may be delegated to. */
export type Delegate = { readonly name: string; readonly description: string };

/** All that a procedure decides by: what the conversation shows, and nothing else. */
export type Situation = {
  readonly agent: OfflineAgent;
  /** The first message. */
  readonly task: string;
  /** What a person or the host said later. */
  readonly later: readonly string[];
  readonly calls: readonly PastCall[];
  /** Names of the tools that may be called now. */
  readonly tools: readonly string[];
  readonly delegates: readonly Delegate[];
  /** Agents that the request must go to. */
  readonly demanded: readonly string[];
  /** The session's workspace, if the prompt names it. */
  readonly workspace?: string;
  /** Of an agent that works in phases: the one that is asked for. */
  readonly phase?: "assess" | "execute" | "format";
  /** The time of the request (ISO 8601 with its offset), if the prompt names it. */
  readonly now?: string;
  /** Nothing can be called any more: this is the last report. */
  readonly wrapUp: boolean;
  /** Earlier calls were condensed into a summary, so `calls` may lack some. */
  readonly condensed: boolean;
};

/** What to do next: call tools, answer, or say why the task is beyond rules, which fails the run. */
export type OfflineMove =
  | { readonly calls: readonly OfflineCall[]; readonly say?: string }
  | { readonly say: string }
  | {
      readonly cannot: string;
      /** What would help: `config`, a model; `params`, another request. `config` if absent. */
      readonly type?: "config" | "params";
    };

/** A call a procedure makes. */
export type OfflineCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

/** How one kind of agent works without a model. The same situation always gives the same move. */
export type Procedure = {
  /** Names or aliases of the agents it plays. */
  readonly agents: readonly string[];
  /** Whether it takes this task of its agent; without it, it takes all. */
  takes?(situation: Situation): boolean;
  next(situation: Situation): OfflineMove;
};

/** The first procedure that plays an agent, by its name or else by an alias, and takes what it is asked. */
export function findProcedure(procedures: readonly Procedure[], situation: Situation): Procedure | undefined {
  const { agent } = situation;
  const taking = procedures.filter((each) => each.takes?.(situation) ?? true);
  return (
    taking.find(({ agents }) => agents.includes(agent.name)) ??
    taking.find(({ agents }) => agents.some((name) => agent.aliases.includes(name)))
  );
}

/** Calls that a procedure makes before it continues, worked out from the answers to earlier ones. */
export type CallStage = () => readonly OfflineCall[];

/** The call as it was made and answered, if it was made in exactly this form. */
export function findAnswer(calls: readonly PastCall[], { tool, input }: OfflineCall): PastCall | undefined {
  const written = JSON.stringify(input);
  return calls.find((past) => past.tool === tool && JSON.stringify(past.input) === written);
}

/** The calls of the first stage that has some to make; null when it is time to report, be it by a limit. */
export function findNextCalls(situation: Situation, stages: readonly CallStage[]): OfflineMove | null {
  if (situation.wrapUp || situation.condensed) return null;
  for (const stage of stages) {
    const calls = stage().filter((call) => !findAnswer(situation.calls, call));
    if (calls.length > 0) return { calls };
  }
  return null;
}

/** Calls that did not work, one line each. */
export function listFaults(calls: readonly PastCall[]): string[] {
  return calls
    .filter(({ failed }) => failed)
    .map(({ tool, input, result }) => {
      const about = input.path ?? input.pattern ?? input.query ?? input.command ?? "";
      return `${[tool, String(about)].filter(Boolean).join(" ")}: ${result.split("\n", 1)[0]}`;
    });
}

/** What a call gave, also if it failed; empty if it was not made. */
export function findResult(calls: readonly PastCall[], call: OfflineCall): string {
  return findAnswer(calls, call)?.result ?? "";
}

/** The calls among these that were answered without a failure. */
export function listAnswered(past: readonly PastCall[], calls: readonly OfflineCall[]): PastCall[] {
  return calls.flatMap((call) => {
    const answer = findAnswer(past, call);
    return answer && !answer.failed ? [answer] : [];
  });
}

/** The calls that did not work, as a section of a report; empty if there are none. */
export function reportFaults(faults: readonly string[]): string {
  return faults.length > 0 ? `Did not work:\n${faults.map((fault) => `- ${fault}`).join("\n")}` : "";
}

/** Reads off a request what a procedure decides by. */
export function readSituation(options: LanguageModelV4CallOptions, agent: OfflineAgent): Situation {
  const { prompt, toolChoice } = options;
  const [task = "", ...later] = prompt.filter((message) => message.role === "user").map(readMessageText);
  const tools = (options.tools ?? []).map((tool) => tool.name);
  const system = readSystem(prompt);
  const phase = readPhase(options);
  return {
    agent,
    task,
    later,
    calls: readCalls(prompt),
    tools,
    delegates: tools.includes("delegate") ? readDelegates(system) : [],
    demanded: readDemanded(system),
    workspace: /^(?:CURRENT_SESSION_WORKSPACE|- Workspace .*\)): (.+)$/m.exec(system)?.[1],
    now: /^CURRENT_TIME: (\S+)$/m.exec(system)?.[1],
    phase,
    wrapUp:
      (toolChoice?.type === "none" && phase === undefined) ||
      options.providerOptions?.retinue?.purpose === "wrap_up",
    condensed: later.some((text) => text.startsWith("<earlier_work>")),
  };
}

function readPhase({ providerOptions }: LanguageModelV4CallOptions): Situation["phase"] {
  const phase = providerOptions?.retinue?.phase;
  return phase === "assess" || phase === "execute" || phase === "format" ? phase : undefined;
}

/** The text of a message, without calls and results. */
export function readMessageText({ content }: LanguageModelV4Message): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function readCalls(prompt: readonly LanguageModelV4Message[]): PastCall[] {
  const results = new Map<string, { result: string; failed: boolean }>();
  for (const message of prompt) {
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      const { output } = part;
      const value = "value" in output ? output.value : "";
      const result = typeof value === "string" ? value : JSON.stringify(value);
      results.set(part.toolCallId, { result, failed: output.type.startsWith("error") });
    }
  }
  const calls: PastCall[] = [];
  for (const message of prompt) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool-call") continue;
      const answer = results.get(part.toolCallId) ?? { result: "", failed: false };
      calls.push({ tool: part.toolName, input: toData(part.input), ...answer });
    }
  }
  return calls;
}

/** A value as an object; empty if it is none. */
export function toData(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function readSystem(prompt: readonly LanguageModelV4Message[]): string {
  const system = prompt.find((message) => message.role === "system");
  return system ? readMessageText(system) : "";
}

/** The list below the last heading of that name; the runtime writes it after the agent's own prompt. */
function readDelegates(system: string): Delegate[] {
  const from = system.lastIndexOf("## Sub-agents\n");
  if (from < 0) return [];
  const section = system.slice(from).split(/\n## /)[0] ?? "";
  return [...section.matchAll(/^- ((?:`[^`\n]+`(?:, )?)+): (.*)$/gm)].flatMap(
    ([, names = "", description = ""]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ name, description })),
  );
}

/** The agents that the runtime's section on mandatory delegations names. */
function readDemanded(system: string): string[] {
  const from = system.lastIndexOf("## Mandatory delegation\n");
  const named = from < 0 ? undefined : /must go to ([^:\n]+):/.exec(system.slice(from))?.[1];
  return [...(named ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** A child's result as its parent reads it back out of the conversation. */
export type ChildResult = {
  taskId?: string;
  agent: string;
  success: boolean;
  partial: boolean;
  summary: string;
  details: string;
  files: readonly string[];
  /** What it hands over besides words. */
  data?: unknown;
  error?: string;
};

/** All results that children have handed over, in calls' answers and in what the host said later. */
export function readAllResults({ calls, later }: Situation): ChildResult[] {
  return [...calls.map(({ result }) => result), ...later].flatMap(readResults);
}

const BLOCK = /<subagent_result ([^>]*)>\n([\s\S]*?)\n<\/subagent_result>/g;

/** The results in a text, in their order. One that was cut gives what can still be read of it. */
export function readResults(text: string): ChildResult[] {
  return [...text.matchAll(BLOCK)].map(([, attributes = "", body = ""]) => readResult(attributes, body));
}

function readResult(attributes: string, body: string): ChildResult {
  const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
  const [said = "", measured = ""] = body.split(/\n*^\[measured\]\n/m).map(unescapeText);
  const line = (name: string) =>
    new RegExp(`^${name}: (.*(?:\\n {2}.*)*)$`, "m").exec(measured)?.[1]?.replaceAll("\n  ", "\n");
  const error = line("error")?.replace(/^\w+(?: \(recoverable\))?: /, "");
  const partial = attribute("partial") === "true";
  // The first line is the host's.
  const details = said.split("\n").slice(1).join("\n").trim() || error || "";
  return {
    agent: attribute("agent") ?? "",
    taskId: attribute("task_id"),
    success: attribute("status") === "completed" && !partial,
    partial,
    summary: details.split(/\n\s*\n/, 1)[0]?.trim() ?? "",
    details,
    files: ["created", "modified"].flatMap((kind) => readNames(line(`files ${kind}`))),
    data: parseData(line("data"), details),
    error,
  };
}

function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&#91;", "[");
}

/** Names with commas, quotes or spaces are in quotes. */
function readNames(line = ""): string[] {
  const names = line.replace(/ and \d+ more$/, "").match(/"(?:[^"\\]|\\.)*"|[^\s,]+/g) ?? [];
  return names.map((name) => (name.startsWith('"') ? String(JSON.parse(name)) : name));
}

/** Data are on a line of their own, or are the answer itself, alone or in a code fence. */
function parseData(line: string | undefined, details: string): unknown {
  const fenced = /^```(?:json)?\n([\s\S]*?)\n```$/.exec(details)?.[1];
  const text = [line, fenced, details].find((one) => one !== undefined && /^\s*[{[]/.test(one));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a task asks for, without the sections that the host puts after it and the frame of a plan's step. */
export function taskText(task: string): string {
  const [asked = ""] = task.split(/\n\n(?=## |<context |This is the step ")/, 1);
  return asked;
}

/** The sections that follow what a task asks for: files, context, results of others. */
export function taskSections(task: string): string {
  return task.slice(taskText(task).length);
}

/** Whether the runtime says this in a run, and not a person. */
export function isFromHost(text: string): boolean {
  return /^(?:<|You are not done\.|You have made exactly|You have reached a limit|Your reply was empty)/.test(
    text.trim(),
  );
}
