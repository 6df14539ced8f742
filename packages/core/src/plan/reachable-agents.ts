import { delegatesOf, isIdle } from "../delegate/profile.ts";
import { toolsLayer } from "../rights/layers.ts";
import type { Agent } from "../schema/agent.ts";
import { baseLayers, type SessionMaker } from "../session/open-session.ts";

/** The agents that an agent could delegate to in a session of its own. */
export function reachableFrom(maker: SessionMaker, agent: Agent): readonly Agent[] {
  const { host } = maker;
  if (Math.min(host.settings.maxDepth, agent.limits.depth ?? Number.POSITIVE_INFINITY) < 1) return [];
  const agents = delegatesOf(host, agent, [...baseLayers(maker), toolsLayer(agent, host.homeDir)], null);
  return agents.filter((one) => !isIdle(host, one));
}
