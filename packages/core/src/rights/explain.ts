import type { Access, Layer, Rule, Verdict } from "../schema/rights.ts";
import { findStrictest } from "./decide.ts";
import { gives, isBare, speaksOf } from "./match.ts";

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

/** For each tool the verdict, with the layer and rule that decide it. */
export function explain(chain: readonly Layer[], tools: readonly ToolName[]): Explanation[] {
  return tools.map((tool) => explainTool(chain, tool));
}

function explainTool(chain: readonly Layer[], tool: ToolName): Explanation {
  const patterns = new Set<string>();
  const strictest = findStrictest(chain, (layer) => {
    const outlook = outlookOf(layer, tool);
    for (const rule of outlook.patterns) patterns.add(rule.text);
    return outlook;
  });
  if (!strictest) return { tool: tool.name, verdict: "deny", layer: "nobody" };
  const { said, layer } = strictest;
  return {
    tool: tool.name,
    verdict: said.verdict,
    layer,
    ...(said.rule && { rule: said.rule.text }),
    ...(patterns.size > 0 && said.verdict !== "deny" && { patterns: [...patterns] }),
  };
}

/** A tool as explanations see it. */
export type ToolName = { readonly name: string; readonly groups: readonly string[] };

/** What one layer says to a tool before any call of it is known; `depends`: that hangs on what a call touches. */
export type Outlook = {
  readonly verdict: Verdict | "depends";
  readonly rule?: Rule;
  /** The rules on which it hangs, or that make exceptions to it. */
  readonly patterns: readonly Rule[];
};

/** One layer's outlook. Rules that guard the same files under every tool are no news on a single one. */
export function outlookOf(layer: Layer, tool: ToolName): Outlook {
  const access = { tool: tool.name, groups: tool.groups };
  const speaking = (rules: readonly Rule[]) =>
    rules.filter((rule) => !isGuard(rule) && speaksOf(rule, access));
  const deny = speaking(layer.deny);
  const ask = speaking(layer.ask);
  const allow = layer.allow?.filter((rule) => !isGuard(rule) && gives(rule, access));
  const denied = deny.find(isBare);
  if (denied) return { verdict: "deny", rule: denied, patterns: [] };
  if (allow && allow.length + ask.length === 0) return { verdict: "deny", patterns: [] };
  const exceptions = [...deny, ...ask].filter((rule) => !isBare(rule));
  const asked = ask.find(isBare);
  if (asked) return { verdict: "ask", rule: asked, patterns: exceptions };
  const allowed = allow?.find(isBare);
  if (allowed || !allow) return { verdict: "allow", ...(allowed && { rule: allowed }), patterns: exceptions };
  const [first] = [...allow, ...ask];
  return { verdict: "depends", ...(first && { rule: first }), patterns: [...allow, ...exceptions] };
}

/** Whether rules of the chain tell apart the files that a tool may touch; the guarded files aside. */
export function dividesFiles(chain: readonly Layer[], access: Pick<Access, "tool" | "groups">): boolean {
  return chain.some((layer) =>
    [...layer.deny, ...layer.ask, ...(layer.allow ?? [])].some(
      (rule) => !isBare(rule) && !isGuard(rule) && speaksOf(rule, access),
    ),
  );
}

function isGuard(rule: Rule): boolean {
  return rule.mode !== undefined && rule.pattern !== undefined;
}

/** The tools a run is offered: those of which some call could pass. What is left out is denied however it is called. */
export function visibleTools(chain: readonly Layer[], tools: readonly ToolName[]): string[] {
  if (chain.length === 0) return [];
  const isVisible = (tool: ToolName) => chain.every((layer) => outlookOf(layer, tool).verdict !== "deny");
  return tools.filter(isVisible).map((tool) => tool.name);
}
