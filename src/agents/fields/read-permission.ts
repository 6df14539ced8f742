import { badValue, isMap, type ReadContext, report } from "./read-values.ts";
import { resolveRule } from "./resolve-rule.ts";
import { delegateRules, type Rights, reportUnusable, restrictedRules } from "./rule-lists.ts";
import { CORE_TOOLS } from "./tool-names.ts";

type Action = "allow" | "ask" | "deny";
const DELEGATION_TOOLS = new Set(["delegate", "delegate_many", "collect_results"]);

/**
 * opencode's `permission`, a word for everything or a map by tool and pattern. Where our layers (deny beats ask
 * beats allow) cannot say the same, the stricter reading is taken and said.
 */
export function readPermission(ctx: ReadContext, value: unknown, rights: Rights): void {
  if (value === undefined || value === null) return;
  const settings = typeof value === "string" ? { "*": value } : value;
  if (!isMap(settings)) {
    unusable(ctx, "permission", value);
    return;
  }
  const base = "*" in settings ? actionOf(ctx, "permission.*", settings["*"]) : "allow";
  if (base === undefined) return;
  const allowed: string[] = [];
  for (const [tool, setting] of Object.entries(settings)) {
    if (tool === "*") continue;
    const path = `permission.${tool}`;
    if (isDelegate(ctx, tool)) readDelegate(ctx, path, setting, rights);
    else if (isMap(setting)) allowed.push(...readPatterns(ctx, { path, tool, setting, base }, rights));
    else allowed.push(...readWord(ctx, { path, tool, setting }, rights));
  }
  if (base === "deny")
    rights.tools =
      rights.tools === undefined ? allowed : rights.tools.filter((rule) => allowed.includes(rule));
  if (base === "ask") rights.askTools.push(...askedTools(ctx, allowed));
}

function readWord(
  ctx: ReadContext,
  entry: { path: string; tool: string; setting: unknown },
  rights: Rights,
): string[] {
  const action = actionOf(ctx, entry.path, entry.setting);
  if (action === "deny") rights.disallowedTools.push(...restrictedRules(ctx, entry.path, entry.tool));
  if (action === "ask") rights.askTools.push(...restrictedRules(ctx, entry.path, entry.tool));
  return action === "allow" ? allowedRules(ctx, entry.path, entry.tool) : [];
}

type PatternEntry = { path: string; tool: string; setting: Record<string, unknown>; base: Action };

function readPatterns(ctx: ReadContext, entry: PatternEntry, rights: Rights): string[] {
  const { path, tool, setting } = entry;
  const rest = "*" in setting ? actionOf(ctx, `${path}.*`, setting["*"]) : entry.base;
  const allowed: string[] = [];
  for (const [pattern, word] of Object.entries(setting)) {
    if (pattern === "*") continue;
    const action = actionOf(ctx, `${path}.${pattern}`, word);
    const rule = `${tool}(${pattern})`;
    if (action === "deny") rights.disallowedTools.push(...restrictedRules(ctx, path, rule));
    if (action === "ask") rights.askTools.push(...restrictedRules(ctx, path, rule));
    if (action === "allow") allowed.push(...allowedRules(ctx, path, rule));
  }
  if (rest === "deny") {
    const whole = restrictedRules(ctx, path, tool);
    rights.tools = [...(rights.tools ?? everything(ctx)).filter((rule) => !whole.includes(rule)), ...allowed];
    return allowed;
  }
  if (rest === "ask") {
    rights.askTools.push(...restrictedRules(ctx, path, tool));
    if (allowed.length > 0) reportStricter(ctx, path, allowed);
    return [];
  }
  return rest === "allow" ? [...allowed, ...allowedRules(ctx, path, tool)] : [];
}

function readDelegate(ctx: ReadContext, path: string, setting: unknown, rights: Rights): void {
  const entries = isMap(setting) ? Object.entries(setting) : [["*", setting] as const];
  for (const [agent, word] of entries) {
    const action = actionOf(ctx, path, word);
    const wholeDenied = agent === "*" && action === "deny";
    if (action === "allow" || action === "ask") rights.delegateTo.push(agent);
    if (action === "ask") rights.askTools.push(...delegateRules([agent]));
    if (action === "deny" && !(wholeDenied && isMap(setting)))
      rights.disallowedTools.push(...delegateRules([agent]));
  }
}

function isDelegate(ctx: ReadContext, tool: string): boolean {
  return resolveRule(tool, ctx.format, ctx.known).kind === "delegate";
}

function allowedRules(ctx: ReadContext, path: string, text: string): string[] {
  const resolved = resolveRule(text, ctx.format, ctx.known);
  if (resolved.kind === "rules") return resolved.rules;
  if (resolved.kind === "unknown" || resolved.kind === "elsewhere") reportUnusable(ctx, path, text, resolved);
  return [];
}

/** All tools by name, so that one of them can be narrowed while the others stay. */
function everything(ctx: ReadContext): string[] {
  const names = [...(ctx.known.tools ?? CORE_TOOLS)].filter((name) => !DELEGATION_TOOLS.has(name));
  return [...names, "mcp__*"];
}

/** What asks when everything but `allowed` asks; without a list of tools, everything does. */
function askedTools(ctx: ReadContext, allowed: readonly string[]): string[] {
  if (ctx.known.tools === undefined) return ["*"];
  return everything(ctx).filter((name) => !allowed.includes(name));
}

function actionOf(ctx: ReadContext, path: string, value: unknown): Action | undefined {
  if (value === "allow" || value === "ask" || value === "deny") return value;
  unusable(ctx, path, value);
  return undefined;
}

function unusable(ctx: ReadContext, path: string, value: unknown): void {
  badValue(ctx, path, {
    value,
    accepted: "allow, ask or deny",
    instead: "the agent cannot be used",
    severity: "error",
  });
}

function reportStricter(ctx: ReadContext, path: string, allowed: readonly string[]): void {
  report(ctx, "info", {
    path,
    code: "stricter-permission",
    message: `${path} asks in general, so ${allowed.join(", ")} asks as well: asking beats allowing here`,
    fix: "deny in general instead, and allow or ask the patterns that are needed",
  });
}
