import type { Access, Layer, Rule, Verdict } from "../schema/rights.ts";
import { gives, isBare, speaksOf } from "./match.ts";

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
