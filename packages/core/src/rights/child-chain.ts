import type { Agent } from "../schema/agent.ts";
import type { Layer } from "../schema/rights.ts";
import { delegationLayer, grantsLayer, toolsLayer } from "./layers.ts";

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
