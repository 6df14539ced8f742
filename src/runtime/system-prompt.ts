import { loadPrompt } from "../loop/load-prompt.ts";
import type { RunLimits } from "../loop/run-spec.ts";
import type { Agent, MandatoryDelegation } from "../schema/agent.ts";
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
};

const prompt = (name: string, values: Record<string, string>) =>
  loadPrompt(new URL(`./prompts/${name}.md`, import.meta.url), values);

/**
 * The system prompt of a run: the agent's own, then where it stands and whom it may delegate to. It holds nothing
 * of the task, so that all children of a kind share it, and with it the provider's cache.
 */
export function systemPrompt(standing: Standing): string {
  const { agent, parent, delegates, limits } = standing;
  const parts = [agent.prompt.trim()];
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
