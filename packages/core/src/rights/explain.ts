import type { Layer } from "../schema/rights.ts";
import { type Outlook, outlookOf, type ToolName } from "./outlook.ts";

/** What a chain says to a tool before any call of it is known. */
export type Explanation = {
  tool: string;
  /** `depends`: the verdict hangs on what a call touches. */
  verdict: Outlook["verdict"];
  layer: string;
  rule?: string;
  /** The rules on which it hangs, or that make exceptions to it. */
  patterns?: string[];
};

const RANK: Readonly<Record<Outlook["verdict"], number>> = { allow: 0, ask: 1, depends: 2, deny: 3 };

/** For each tool the verdict, with the layer and rule that decide it. */
export function explain(chain: readonly Layer[], tools: readonly ToolName[]): Explanation[] {
  return tools.map((tool) => explainTool(chain, tool));
}

function explainTool(chain: readonly Layer[], tool: ToolName): Explanation {
  let layer = "nobody";
  let decisive: Outlook = { verdict: "deny", patterns: [] };
  const patterns = new Set<string>();
  for (const [index, candidate] of chain.entries()) {
    const outlook = outlookOf(candidate, tool);
    for (const rule of outlook.patterns) patterns.add(rule.text);
    if (index > 0 && !outranks(outlook, decisive)) continue;
    decisive = outlook;
    layer = candidate.name;
  }
  const explanation: Explanation = { tool: tool.name, verdict: decisive.verdict, layer };
  if (decisive.rule) explanation.rule = decisive.rule.text;
  if (patterns.size > 0 && decisive.verdict !== "deny") explanation.patterns = [...patterns];
  return explanation;
}

function outranks(outlook: Outlook, decisive: Outlook): boolean {
  if (outlook.verdict !== decisive.verdict) return RANK[outlook.verdict] > RANK[decisive.verdict];
  return decisive.verdict === "allow" && !decisive.rule && outlook.rule !== undefined;
}
