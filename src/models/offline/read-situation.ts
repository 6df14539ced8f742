import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Delegate, OfflineAgent, PastCall, Situation } from "./procedure.ts";

/** Reads off a request what a procedure decides by. */
export function readSituation(options: LanguageModelV4CallOptions, agent: OfflineAgent): Situation {
  const { prompt, toolChoice } = options;
  const [task = "", ...later] = prompt.filter((message) => message.role === "user").map(textOf);
  const tools = (options.tools ?? []).map((tool) => tool.name);
  const system = systemIn(prompt);
  const workspace = /^(?:CURRENT_SESSION_WORKSPACE|- Workspace .*\)): (.+)$/m.exec(system)?.[1];
  const now = /^CURRENT_TIME: (\S+)$/m.exec(system)?.[1];
  const timezone = /^TIME_ZONE: (\S+)$/m.exec(system)?.[1];
  const phase = phaseIn(options);
  return {
    agent,
    task,
    later,
    calls: callsOf(prompt),
    tools,
    delegates: tools.includes("delegate") ? delegatesIn(system) : [],
    demanded: demandedIn(system),
    ...(workspace && { workspace }),
    ...(now && { now }),
    ...(timezone && { timezone }),
    ...(phase && { phase }),
    wrapUp:
      (toolChoice?.type === "none" && phase === undefined) ||
      options.providerOptions?.retinue?.purpose === "wrap_up",
    condensed: later.some((text) => text.startsWith("<earlier_work>")),
  };
}

function phaseIn({ providerOptions }: LanguageModelV4CallOptions): Situation["phase"] {
  const phase = providerOptions?.retinue?.phase;
  return phase === "assess" || phase === "execute" || phase === "format" ? phase : undefined;
}

/** The text of a message, without calls and results. */
export function textOf({ content }: LanguageModelV4Message): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function callsOf(prompt: readonly LanguageModelV4Message[]): PastCall[] {
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
      calls.push({ tool: part.toolName, input: recordOf(part.input), ...answer });
    }
  }
  return calls;
}

function recordOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {};
}

function systemIn(prompt: readonly LanguageModelV4Message[]): string {
  const system = prompt.find((message) => message.role === "system");
  return system ? textOf(system) : "";
}

/** The list below the last heading of that name; the runtime writes it after the agent's own prompt. */
function delegatesIn(system: string): Delegate[] {
  const from = system.lastIndexOf("## Sub-agents\n");
  if (from < 0) return [];
  const section = system.slice(from).split(/\n## /)[0] ?? "";
  return [...section.matchAll(/^- ((?:`[^`\n]+`(?:, )?)+): (.*)$/gm)].flatMap(
    ([, names = "", description = ""]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ name, description })),
  );
}

/** The agents that the runtime's section on mandatory delegations names. */
function demandedIn(system: string): string[] {
  const from = system.lastIndexOf("## Mandatory delegation\n");
  const named = from < 0 ? undefined : /must go to ([^:\n]+):/.exec(system.slice(from))?.[1];
  return [...(named ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}
