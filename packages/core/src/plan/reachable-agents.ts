import { delegatesOf, isIdle } from "../delegate/profile.ts";
import { toolsLayer } from "../rights/layers.ts";
import type { Host } from "../run/run.ts";
import type { Agent } from "../schema/agent.ts";
import { baseLayers } from "../session/open-session.ts";

/** The agents that an agent could delegate to in a session of its own. */
export function reachableFrom(host: Host, agent: Agent): readonly Agent[] {
  if (Math.min(host.settings.maxDepth, agent.limits.depth ?? Number.POSITIVE_INFINITY) < 1) return [];
  const agents = delegatesOf(host, agent, [...baseLayers(host), toolsLayer(agent, host.homeDir)], null);
  return agents.filter((one) => !isIdle(host, one));
}
