import { toolsLayer } from "../../permissions/layers.ts";
import type { Agent } from "../../schema/agent.ts";
import { baseLayers, type SessionMaker } from "../open-session.ts";
import { delegatesOf, isIdle } from "../runs/profile.ts";

/** The agents that an agent could delegate to in a session of its own. */
export function reachableFrom(maker: SessionMaker, agent: Agent): readonly Agent[] {
  const { host } = maker;
  if (Math.min(host.settings.maxDepth, agent.limits.depth ?? Number.POSITIVE_INFINITY) < 1) return [];
  const agents = delegatesOf(host, agent, [...baseLayers(maker), toolsLayer(agent, host.homeDir)], null);
  return agents.filter((one) => !isIdle(host, one));
}
