import type { AgentRegistry } from "@retinue/core/agents/registry";
import { decide } from "@retinue/core/rights/decide";
import type { ToolName } from "@retinue/core/rights/explain";
import { type Explanation, explain } from "@retinue/core/rights/explain";
import { childChain, toolsLayer } from "@retinue/core/rights/layers";
import type { Agent } from "@retinue/core/schema/agent";
import type { RightsRow } from "@retinue/core/schema/api/agent";
import type { Layer, PermissionMode } from "@retinue/core/schema/rights";
import type { Settings } from "@retinue/core/schema/settings";
import { baseLayers } from "@retinue/core/session/open-session";
import type { Places } from "@retinue/core/settings/places";
import { KNOWN_GROUPS, KNOWN_TOOLS } from "./built-in-agents.ts";

/** What is said of one tool, and whether it is one of ours, a group, or known from the rules alone. */
type ExplainedTool = Explanation & { kind: "tool" | "group" | "other" };

/** The project whose settings stand above every agent. */
export type ExplainedProject = {
  readonly settings: Settings;
  readonly places: Pick<Places, "homeDir" | "dataDir" | "configDir">;
};

/** The chain of layers of the last agent of a line, root first, exactly as a run builds it. */
export function buildChain(
  line: readonly Agent[],
  { settings, places }: ExplainedProject,
  mode: PermissionMode = "default",
): readonly Layer[] {
  const { homeDir, dataDir, configDir } = places;
  const base = baseLayers({ homeDir, settings, dataDir, configDir, disallowedTools: [], mode });
  const [root, ...below] = line;
  if (!root) return base;
  let parent = root;
  let chain: Layer[] = [...base, toolsLayer(root, homeDir)];
  for (const child of below) {
    chain = childChain(chain, { parent, child, home: homeDir });
    parent = child;
  }
  return chain;
}

/** Every known tool, and every other tool or group that some rule of the chain names. */
export function explainTools(chain: readonly Layer[]): ExplainedTool[] {
  const tools = new Set(KNOWN_TOOLS.map((tool) => tool.name));
  const named = chain
    .flatMap((layer) => [...(layer.allow ?? []), ...layer.ask, ...layer.deny])
    .map((rule) => rule.tool);
  const others = [...new Set(named)].filter((name) => !tools.has(name) && name !== "*").sort();
  const subjects: ToolName[] = [...KNOWN_TOOLS, ...others.map((name) => ({ name, groups: [] }))];
  const findKind = (name: string) => (tools.has(name) ? "tool" : KNOWN_GROUPS.has(name) ? "group" : "other");
  return explain(chain, subjects).map((row) => ({ ...row, kind: findKind(row.tool) }));
}

const GROUPS = new Map(KNOWN_TOOLS.map(({ name, groups }) => [name, groups]));

/** The same as the table of effective rights shows it. */
export function rightsRows(chain: readonly Layer[]): RightsRow[] {
  return explainTools(chain).map(({ tool, kind, verdict, layer, rule, patterns }) => ({
    tool,
    kind,
    groups: GROUPS.get(tool) ?? [],
    verdict,
    layer,
    rule: rule ?? null,
    patterns: patterns ?? [],
  }));
}

/** Whom the last agent of a line could delegate to with these rights. */
export function listDelegates(
  line: readonly Agent[],
  chain: readonly Layer[],
  { registry, settings }: { registry: Pick<AgentRegistry, "list">; settings: Pick<Settings, "maxDepth"> },
): string[] {
  const agent = line.at(-1);
  const depth = line.length - 1;
  const maxDepth = Math.min(settings.maxDepth, agent?.limits.depth ?? settings.maxDepth);
  if (!agent?.subagents || depth >= maxDepth) return [];
  const above = new Set(agent.subagents.recursive ? [] : line.map((each) => each.name));
  return registry
    .list()
    .map((each) => each.name)
    .filter((name) => {
      const targets = [{ kind: "agent" as const, agent: name }];
      return (
        !above.has(name) &&
        decide(chain, { tool: "delegate", groups: ["delegation"], targets }).verdict !== "deny"
      );
    });
}
