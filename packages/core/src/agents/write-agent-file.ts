import type { Agent } from "../schema/agent.ts";
import { DEFAULT_RETRY } from "./fields/read-limits.ts";

/** A definition without where it came from. */
export type AgentText = Omit<Agent, "source">;

const MAX_LINE = 120;

/**
 * An agent as a file of our own format. What is as it would be anyway is left out; keys that Retinue does not know are
 * kept. Read back, the file means the same agent.
 */
export async function writeAgentFile(agent: AgentText): Promise<string> {
  const { Document, isCollection, visit } = await import("yaml");
  const document = new Document({ ...fieldsOf(agent), ...agent.extra });
  visit(document, {
    Collection(_key, node, path) {
      // The top level stays in lines of its own; lists and small maps below it read best on one.
      if (path.length > 1) node.flow = isShort(node.toJSON());
      return isCollection(node) && node.flow ? visit.SKIP : undefined;
    },
  });
  const yaml = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return `---\n${yaml.trimEnd()}\n---\n${agent.prompt.trim()}\n`;
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_LINE;
}

function fieldsOf(agent: AgentText): Record<string, unknown> {
  const { name, displayName, display, subagents } = agent;
  const shown = { ...(displayName !== name && { name: displayName }), ...display };
  return {
    name,
    ...list("aliases", agent.aliases),
    description: agent.description,
    ...(agent.model !== "inherit" && { model: agent.model }),
    ...(agent.tools && { tools: agent.tools }),
    ...list("askTools", agent.askTools),
    ...list("disallowedTools", agent.disallowedTools),
    ...(agent.grants && { grants: agent.grants }),
    ...(subagents && { subagents: policyOf(subagents) }),
    ...(agent.context !== "task_only" && { context: agent.context }),
    ...map("limits", agent.limits),
    ...(agent.temperature !== undefined && { temperature: agent.temperature }),
    ...(agent.maxOutputTokens !== undefined && { maxOutputTokens: agent.maxOutputTokens }),
    ...(agent.delegation && { delegation: agent.delegation }),
    ...(JSON.stringify(agent.retry) !== JSON.stringify(DEFAULT_RETRY) && { retry: agent.retry }),
    ...list("deliverables", agent.deliverables),
    ...(agent.verify && { verify: agent.verify }),
    ...(agent.workspace !== "shared" && { workspace: agent.workspace }),
    ...(agent.flow !== "loop" && { flow: agent.flow }),
    ...map("display", shown),
    ...(!agent.enabled && { enabled: false }),
  };
}

function policyOf(policy: NonNullable<Agent["subagents"]>): Record<string, unknown> {
  const { allow, deny, execution, maxConcurrent, recursive } = policy;
  return {
    allow,
    ...list("deny", deny),
    ...(execution !== "parallel" && { execution }),
    ...(maxConcurrent !== 5 && { maxConcurrent }),
    ...(recursive && { recursive }),
  };
}

function list(key: string, items: readonly unknown[]): Record<string, unknown> {
  return items.length > 0 ? { [key]: items } : {};
}

function map(key: string, value: object): Record<string, unknown> {
  return Object.keys(value).length > 0 ? { [key]: value } : {};
}
