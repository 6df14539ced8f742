import { loadPrompt } from "../loop/load-prompt.ts";
import type { RunLimits } from "../loop/run-spec.ts";
import type { Agent, MandatoryDelegation } from "../schema/agent.ts";
import { isoWithOffset } from "../text/zone.ts";
import { mandatoryPrompt } from "./triggers/mandatory-prompt.ts";

/** What the awareness block of a prompt needs to know. */
export type Standing = {
  agent: Agent;
  depth: number;
  maxDepth: number;
  /** Null for the root agent, which needs no block of its own. */
  parent: Agent | null;
  limits: RunLimits;
  /** Agents it may really delegate to. */
  delegates: readonly Agent[];
  /** Delegations that the request demands, which makes this one prompt the request's own. */
  mandatory: readonly MandatoryDelegation[];
  /** When its session began, and the folder it works in. */
  startedAtMs: number;
  workspaceDir: string;
  /** When the run begins, and the zone that times without one are meant in. */
  nowMs: number;
  zone(): string;
};

const prompt = (name: string, values: Record<string, string>) =>
  loadPrompt(new URL(`./prompts/${name}.md`, import.meta.url), values);

/**
 * The system prompt of a run: the agent's own, then where it stands and whom it may delegate to. It holds nothing
 * of the task, so that all children of a kind share it, and with it the provider's cache.
 */
export function systemPrompt(standing: Standing): string {
  const { agent, parent, delegates, limits } = standing;
  const parts = [ownPrompt(standing).trim()];
  if (parent) {
    parts.push(
      prompt("awareness", {
        role: agent.displayName,
        depth: String(standing.depth),
        maxDepth: String(standing.maxDepth),
        parent: parent.displayName,
        turns: String(limits.turns),
        toolCalls: String(limits.toolCalls),
        time: `${Math.round(limits.timeoutMs / 1000)} s`,
        delegation:
          delegates.length > 0
            ? `You can delegate to: ${delegates.map((one) => one.name).join(", ")}.`
            : "You cannot delegate to other sub-agents.",
      }),
    );
  }
  if (delegates.length > 0) {
    const agents = delegates
      .map((one) => `- \`${one.name}\`: ${one.description.replace(/\s+/g, " ").trim()}`)
      .join("\n");
    parts.push(prompt("delegation", { agents }));
  }
  if (standing.mandatory.length > 0) parts.push(mandatoryPrompt(standing.mandatory));
  return parts.filter(Boolean).join("\n\n");
}

/**
 * In prompts of Retinue's own format `{{today}}` is the day the session began, `{{workspace}}` the run's workspace, and
 * `{{now}}` and `{{timezone}}` the minute the run began and the person's zone.
 */
function ownPrompt({ agent, startedAtMs, workspaceDir, nowMs, zone }: Standing): string {
  if (agent.source.format !== "native") return agent.prompt;
  const values: Readonly<Record<string, () => string>> = {
    today: () => dayOf(startedAtMs),
    now: () => minuteOf(nowMs, zone()),
    timezone: zone,
    workspace: () => (agent.workspace === "isolated" ? "a folder of your own" : workspaceDir),
  };
  return agent.prompt.replace(
    /\{\{(today|workspace|now|timezone)\}\}/g,
    (_, name: string) => values[name]?.() ?? "",
  );
}

/** The same on every machine, so that a replay gives the same prompt. */
function dayOf(atMs: number): string {
  return new Date(atMs).toLocaleDateString("en-US", {
    weekday: "long",
    year: "numeric",
    month: "long",
    day: "numeric",
    timeZone: "UTC",
  });
}

/** The minute, as the clocks of a zone show it. */
function minuteOf(atMs: number, zone: string): string {
  return isoWithOffset(Math.floor(atMs / 60_000) * 60_000, zone);
}

/** Lines and words of a prompt that tell the time, which is another one whenever a session is played again. */
const TIME_LINES = /^(CURRENT_TIME|TIME_ZONE): .*$/gm;
const MINUTES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:00(?:Z|[+-]\d\d:\d\d)/g;

/** A prompt without the time that it was made at. */
export function withoutTime(system: string): string {
  return system.replace(TIME_LINES, "$1").replace(MINUTES, "");
}
