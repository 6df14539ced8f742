import type { Layer } from "../schema/rights.ts";
import { outlookOf, type ToolName } from "./outlook.ts";

/** The tools a run is offered: those of which some call could pass. What is left out is denied however it is called. */
export function visibleTools(chain: readonly Layer[], tools: readonly ToolName[]): string[] {
  if (chain.length === 0) return [];
  const isVisible = (tool: ToolName) => chain.every((layer) => outlookOf(layer, tool).verdict !== "deny");
  return tools.filter(isVisible).map((tool) => tool.name);
}
