import type { Agent } from "../schema/agent.ts";
import type { Layer, Rule } from "../schema/rights.ts";
import { DELEGATION_TOOLS, deniedAgents, ownDelegation, withDelegationOpen } from "./delegation-rules.ts";
import { parseRules } from "./rule.ts";

/** Rules as a person writes them. */
export type RuleTexts = {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
};

/** What one session narrows. `--allowed-tools` is no part of it: it answers asks and restricts nothing. */
export type SessionFlags = {
  readonly tools?: readonly string[];
  readonly askTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** Plan mode: nothing is written and no command is run. */
  readonly readOnly?: boolean;
};

const READ_ONLY: readonly Rule[] = [
  { text: "read-only session", tool: "*", mode: "write" },
  { text: "read-only session", tool: "shell" },
];

/** The person's settings; without `allow` they let pass what they neither ask about nor deny. */
export function settingsLayer({ allow, ask = [], deny = [] }: RuleTexts, home?: string): Layer {
  return {
    name: "settings",
    ...(allow && { allow: withDelegationOpen(parseRules(allow, "settings, permissions.allow", home)) }),
    ask: parseRules(ask, "settings, permissions.ask", home),
    deny: parseRules(deny, "settings, permissions.deny", home),
  };
}

/** The flags of one session. */
export function sessionLayer(flags: SessionFlags, home?: string): Layer {
  const { tools, askTools = [], disallowedTools = [], readOnly = false } = flags;
  return {
    name: "session",
    ...(tools && { allow: withDelegationOpen(parseRules(tools, "session, tools", home)) }),
    ask: parseRules(askTools, "session, askTools", home),
    deny: [...(readOnly ? READ_ONLY : []), ...parseRules(disallowedTools, "session, disallowedTools", home)],
  };
}

/** What an agent may use itself. Whom it may delegate to is said by its `subagents` alone, whatever its tools say. */
export function toolsLayer(agent: Agent, home?: string): Layer {
  const where = `agent ${agent.name}`;
  const delegation = ownDelegation(agent);
  return {
    name: `tools of ${agent.name}`,
    ...(agent.tools && { allow: [...parseRules(agent.tools, `${where}, tools`, home), ...delegation.allow] }),
    ask: parseRules(agent.askTools, `${where}, askTools`, home),
    deny: [...parseRules(agent.disallowedTools, `${where}, disallowedTools`, home), ...delegation.deny],
    own: true,
    ...authorOf(agent),
  };
}

/**
 * What an agent passes on to everyone below it: its grants, or else its tools with their asks; never what it is
 * denied. Its list of sub-agents binds only itself, its denied sub-agents bind all its descendants.
 */
export function grantsLayer(agent: Agent, home?: string): Layer {
  const where = `agent ${agent.name}`;
  const { grants, tools, askTools } = agent;
  const own =
    tools &&
    parseRules(tools, `${where}, tools`, home).filter(({ tool }) => !DELEGATION_TOOLS.includes(tool));
  const allow = grants ? parseRules(grants, `${where}, grants`, home) : own;
  return {
    name: `grants of ${agent.name}`,
    ...(allow && { allow: withDelegationOpen(allow) }),
    ask: grants ? [] : parseRules(askTools, `${where}, askTools`, home),
    deny: [...parseRules(agent.disallowedTools, `${where}, disallowedTools`, home), ...deniedAgents(agent)],
    ...authorOf(agent),
  };
}

/** Whoever commits to a project writes its agents; the person at work has not agreed to whom they name. */
function authorOf({ source }: Agent): Pick<Layer, "byModel"> {
  return source.scope === "project" ? { byModel: true } : {};
}

/** What one delegation narrows its child to: exactly these tools, delegation included only if it is named. */
export function delegationLayer(tools: readonly string[], agent?: string, home?: string): Layer {
  const name = agent === undefined ? "delegation" : `delegation to ${agent}`;
  return { name, allow: parseRules(tools, `${name}, tools`, home), ask: [], deny: [], byModel: true };
}

/** One delegation as the chain sees it; `narrowing` is the delegation's own list of tools. */
export type ChildRights = {
  readonly parent: Agent;
  readonly child: Agent;
  readonly narrowing?: readonly string[] | undefined;
  readonly home?: string | undefined;
};

/**
 * The chain of a child: its parent's, with what the parent may use replaced by what it may pass on, then the
 * delegation's narrowing, then what the child may use. Grants and narrowings further up stay, so rights only shrink.
 */
export function childChain(
  parentChain: readonly Layer[],
  { parent, child, narrowing, home }: ChildRights,
): Layer[] {
  const inherited = parentChain.filter((layer) => layer.own !== true);
  const narrowed = narrowing ? [delegationLayer(narrowing, child.name, home)] : [];
  return [...inherited, grantsLayer(parent, home), ...narrowed, toolsLayer(child, home)];
}
