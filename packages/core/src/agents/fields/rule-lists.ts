import { type ReadContext, report, showValue } from "./read-values.ts";
import { type Resolved, resolveRule } from "./resolve-rule.ts";
import { agentReference } from "./slug.ts";

/** An agent's rights while they are being read; `delegateTo` collects whom its tools list lets it call. */
export type Rights = {
  tools: string[] | undefined;
  askTools: string[];
  disallowedTools: string[];
  grants: string[] | undefined;
  delegateTo: string[];
};

/** The rules of one denied or guarded name; an unknown one is an error, since its tool would stay open. */
export function restrictedRules(ctx: ReadContext, path: string, name: string): string[] {
  const resolved = resolveRule(name, ctx.format, ctx.known);
  if (resolved.kind === "rules") return resolved.rules.flatMap((rule) => withSiblings(ctx, rule));
  if (resolved.kind === "delegate") return delegateRules(resolved.agents);
  if (resolved.kind === "everything") return ["*"];
  if (resolved.kind === "elsewhere") return [];
  const asking = path.startsWith("askTools");
  report(ctx, "error", {
    path,
    code: asking ? "unknown-ask-tool" : "unknown-denied-tool",
    message: `${path} names the unknown tool ${showValue(name)}, so the tool that was meant would stay open; ${resolved.hint}`,
    fix: "correct the name or remove it",
  });
  return [];
}

/** In Claude Code a path in `Edit(…)` binds every tool that changes files, so a new file cannot be written there either. */
function withSiblings({ format }: ReadContext, rule: string): string[] {
  const path = format === "claude" ? /^(?:edit|write)(\(.*\))$/s.exec(rule)?.[1] : undefined;
  return path === undefined ? [rule] : [`edit${path}`, `write${path}`];
}

/** `delegate` rules, one per agent. */
export function delegateRules(agents: readonly string[]): string[] {
  return agents.map((agent) => (agent === "*" ? "delegate" : `delegate(${agentReference(agent) ?? agent})`));
}

/** Reports a name in a list of allowed tools that gives nothing. */
export function reportUnusable(
  ctx: ReadContext,
  path: string,
  name: string,
  resolved: Extract<Resolved, { kind: "unknown" | "elsewhere" }>,
): void {
  const unknown = resolved.kind === "unknown";
  report(ctx, unknown ? "warning" : "info", {
    path,
    code: unknown ? "unknown-tool" : "tool-elsewhere",
    message: unknown
      ? `${path} names the unknown tool ${showValue(name)}; ${resolved.hint}`
      : `${path} names ${showValue(name)}, a tool of another program that Retinue does not have`,
    fix: unknown ? "correct the name or remove it" : "remove it, or leave it for the other program",
  });
}
