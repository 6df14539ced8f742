import { isRecord } from "../../schema/json-object.ts";
import {
  COVERED_TOOLS,
  coversPattern,
  findPatternKind,
  isUniversal,
  listPermissionNames,
  matchesOpencode,
  mayOverlap,
  type PatternKind,
  translatePattern,
} from "./opencode-pattern.ts";
import { badValue, type ReadContext, report } from "./read-values.ts";
import {
  delegateRules,
  type Resolved,
  type Rights,
  reportUnusable,
  resolveRule,
  restrictedRules,
} from "./resolve-rule.ts";

type Action = "allow" | "ask" | "deny";
const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };
const DELEGATION_TOOLS = new Set(["delegate", "delegate_many", "collect_results"]);
/** opencode has one right for every change of a file. */
const EDIT_SWITCHES = new Set(["write", "edit", "patch", "multiedit"]);
const GENERAL_PURPOSE = "general-purpose";

/** One rule of opencode's: the last one whose key and pattern match a call decides on it. */
type Entry = { path: string; key: string; pattern: string; action: Action };

/** What the rules mean for one tool in a layer where deny beats ask beats allow. */
type Plan = { base: Action; allow: string[]; ask: string[]; deny: string[] };

/** The rules with what they are read for; `said` holds the paths about which a warning was given. */
type Reading = {
  ctx: ReadContext;
  entries: readonly Entry[];
  /** What each key means by the names of agent files. */
  meanings: ReadonlyMap<string, Resolved>;
  said: Set<string>;
};

/** The two fields of opencode's that hold rules. */
export type PermissionInput = {
  switches: Readonly<Record<string, unknown>> | undefined;
  permission: unknown;
};

/**
 * opencode's `permission` (a word for everything, or a map by tool and pattern) and its older `tools: {write: false}`,
 * which it joins into one list of rules of which the last match wins. Ours come out equal, or stricter where our
 * layers cannot say the same; then a warning says so.
 */
export function readPermission(ctx: ReadContext, input: PermissionInput, rights: Rights): void {
  const entries = readEntries(ctx, input);
  if (entries.length === 0 && ctx.format !== "opencode") return;
  const meanings = new Map(entries.map(({ key }) => [key, resolveRule(key, ctx.format, ctx.known)]));
  const reading: Reading = {
    ctx,
    entries: [...defaultEntries(ctx), ...entries],
    meanings,
    said: new Set(),
  };
  const tools = [...(ctx.known.tools ?? COVERED_TOOLS)].filter((name) => !DELEGATION_TOOLS.has(name));
  const plans = new Map(tools.map((tool) => [tool, planTool(reading, tool)]));
  applyPlans(reading, plans, rights);
  readDelegation(reading, rights);
}

/** What opencode itself begins with: secrets in `.env` files are asked for. */
function defaultEntries(ctx: ReadContext): Entry[] {
  if (ctx.format !== "opencode") return [];
  const asked = ["*.env", "*.env.*"];
  return asked.map((pattern) => ({ path: "", key: "read", pattern, action: "ask" }));
}

/** The rules in the order that counts: a key of both fields keeps its place in `tools` and takes the later value. */
function readEntries(ctx: ReadContext, { switches, permission }: PermissionInput): Entry[] {
  const settings = new Map<string, { path: string; setting: unknown }>();
  for (const [name, on] of Object.entries(switches ?? {})) {
    const path = `tools.${name}`;
    if (typeof on !== "boolean") reportUnreadable(ctx, path, on, "true or false");
    const key = EDIT_SWITCHES.has(name) ? "edit" : name;
    settings.set(key, { path, setting: on === true ? "allow" : "deny" });
  }
  const map = typeof permission === "string" ? { "*": permission } : (permission ?? {});
  if (!isRecord(map)) {
    reportUnreadable(ctx, "permission", permission);
    return [];
  }
  for (const [key, setting] of Object.entries(map)) settings.set(key, { path: `permission.${key}`, setting });
  return [...settings].flatMap(([key, { path, setting }]) => {
    if (!isRecord(setting)) return readAction(ctx, { path, key, pattern: "*" }, setting);
    return Object.entries(setting).flatMap(([pattern, word]) =>
      readAction(ctx, { path: `${path}.${pattern}`, key, pattern }, word),
    );
  });
}

function readAction(ctx: ReadContext, entry: Omit<Entry, "action">, word: unknown): Entry[] {
  if (word === "allow" || word === "ask" || word === "deny") return [{ ...entry, action: word }];
  reportUnreadable(ctx, entry.path, word);
  return [];
}

/** The rules that speak of a tool by one of opencode's names, without those that a later one replaces entirely. */
function findLive(reading: Reading, tool: string, name: string): Entry[] {
  const ours = reading.ctx.format !== "opencode";
  return withoutReplaced(
    reading.entries.filter(
      (entry) => matchesOpencode(entry.key, name) || (ours && means(reading, entry, tool)),
    ),
  );
}

/** Rules that restrict a tool by a name at which opencode does not look: surely meant, though without effect there. */
function findMeant(reading: Reading, tool: string): Entry[] {
  if (reading.ctx.format !== "opencode") return [];
  const names = listPermissionNames(tool);
  return reading.entries.filter(
    (entry) =>
      entry.action !== "allow" &&
      means(reading, entry, tool) &&
      !names.some((name) => matchesOpencode(entry.key, name)),
  );
}

function withoutReplaced(entries: readonly Entry[]): Entry[] {
  return entries.filter(
    (entry, index) => !entries.slice(index + 1).some((later) => coversPattern(later.pattern, entry.pattern)),
  );
}

function means({ meanings }: Reading, { key }: Entry, tool: string): boolean {
  const meaning = meanings.get(key);
  if (meaning?.kind === "delegate") return tool === "delegate";
  return meaning?.kind === "rules" && meaning.rules.includes(tool);
}

function planTool(reading: Reading, tool: string): Plan {
  const plans = listPermissionNames(tool).map((name) =>
    planRules(reading, tool, findLive(reading, tool, name)),
  );
  return [...plans, planRules(reading, tool, withoutReplaced(findMeant(reading, tool)))].reduce(joinPlans);
}

/** What both plans let pass; where one asks, what the other gives is asked for. */
function joinPlans(one: Plan, other: Plan): Plan {
  const [strict, loose] = STRICTNESS[other.base] > STRICTNESS[one.base] ? [other, one] : [one, other];
  const deny = [...strict.deny, ...loose.deny];
  if (strict.base !== "deny")
    return { base: strict.base, allow: [], ask: [...strict.ask, ...loose.ask], deny };
  if (loose.base === "deny") return { base: "deny", allow: [], ask: [], deny };
  const ask = loose.base === "ask" ? [...strict.allow, ...strict.ask] : strict.ask;
  return {
    base: "deny",
    allow: loose.base === "ask" ? [] : strict.allow,
    ask,
    deny: [...deny, ...loose.ask],
  };
}

function planRules(reading: Reading, tool: string, live: readonly Entry[]): Plan {
  const { base, rest } = splitBase(live);
  const kind = findPatternKind(tool);
  if (kind === "path" || kind === "command" || kind === "url")
    return planPatterns(reading, { tool, kind, base }, rest);
  const plan: Plan = { base, allow: [], ask: [], deny: [] };
  for (const entry of rest) {
    if (!concernsTool(kind, tool, entry) || entry.action === plan.base) continue;
    reportStricter(reading, tool, entry);
    if (STRICTNESS[entry.action] > STRICTNESS[plan.base]) plan.base = entry.action;
  }
  return plan;
}

/** The rule for everything else, which is opencode's `allow` if none is written, and the rules with patterns after it. */
function splitBase(live: readonly Entry[]): { base: Action; rest: readonly Entry[] } {
  const [first] = live;
  if (first === undefined || !isUniversal(first.pattern)) return { base: "allow", rest: live };
  return { base: first.action, rest: live.slice(1) };
}

/** Whether a pattern concerns a tool of which our rules cannot tell one call from another. */
function concernsTool(kind: PatternKind, tool: string, { key, pattern, action }: Entry): boolean {
  if (kind === "whole") return true;
  // opencode has `bash` alone: what restricts its git commands restricts our git tools.
  if (kind === "words") return action === "deny" && pattern.includes(tool.split("_")[0] ?? tool);
  // A tool of its own is asked for as `*` there, so that other patterns match nothing; they were still meant.
  return kind === "custom" && action !== "allow" && (key === tool || matchesOpencode(pattern, "*"));
}

type Tool = { tool: string; kind: "path" | "command" | "url"; base: Action };

function planPatterns(reading: Reading, { tool, kind, base }: Tool, rest: readonly Entry[]): Plan {
  const plan: Plan = { base, allow: [], ask: [], deny: [] };
  const before: Entry[] = [];
  for (const entry of rest) {
    const { action, pattern } = entry;
    const { exact, atLeast } = translatePattern(kind, pattern);
    const loses = before.some(
      (earlier) => isStricter(earlier, entry) && mayOverlap(earlier.pattern, pattern),
    );
    const givenBefore = base !== "deny" || before.some((earlier) => earlier.action !== "deny");
    before.push(entry);
    if (loses || (action === "allow" && base === "ask")) reportStricter(reading, tool, entry);
    if (action === "allow") {
      if (base !== "deny") continue;
      if (exact === undefined) reportStricter(reading, tool, entry);
      plan.allow.push(...inRules(tool, exact ?? []));
    } else if (action === "ask" && (base !== "deny" || exact !== undefined)) {
      if (base !== "deny" && atLeast === undefined) reportStricter(reading, tool, entry);
      plan.ask.push(...inRules(tool, base === "deny" ? (exact ?? []) : atLeast));
    } else if (givenBefore) {
      if (action === "ask" || atLeast === undefined) reportStricter(reading, tool, entry);
      plan.deny.push(...inRules(tool, atLeast));
    } else if (action === "ask") reportStricter(reading, tool, entry);
  }
  return plan;
}

function isStricter(one: Entry, other: Entry): boolean {
  return STRICTNESS[one.action] > STRICTNESS[other.action];
}

/** Rules of one tool by patterns; of the whole tool where there are none to say it with. */
function inRules(tool: string, patterns: readonly string[] | undefined): string[] {
  return patterns?.map((pattern) => `${tool}(${pattern})`) ?? [tool];
}

/** Turns what was planned into lists, and narrows the tools that are listed already. */
function applyPlans(reading: Reading, plans: ReadonlyMap<string, Plan>, rights: Rights): void {
  const { ctx } = reading;
  const others = readOthers(reading, [...plans.keys()]);
  const rest = reading.entries.findLast((entry) => isUniversal(entry.key) && decidesAll(entry));
  const restBase = rest?.action ?? "allow";
  const divided = [...plans.values()].some(
    ({ base, allow, ask }) => base === "deny" && allow.length + ask.length > 0,
  );
  for (const [tool, plan] of plans) {
    const whole = plan.base === "deny" && plan.allow.length + plan.ask.length === 0;
    if (whole && restBase !== "deny") rights.disallowedTools.push(tool);
    rights.disallowedTools.push(...plan.deny);
    const asks = plan.base === "ask" || (whole && restBase === "ask");
    const within = askWithin(ctx, rights.tools, { tool, rules: [...(asks ? [tool] : []), ...plan.ask] });
    rights.askTools.push(...within.ask);
    rights.disallowedTools.push(...within.deny);
  }
  rights.disallowedTools.push(...others.deny);
  const isList = restBase === "deny" || divided;
  for (const rule of others.meant) {
    const mayAsk = !isList && (rights.tools === undefined || mayList(rights.tools, nameTool(rule), ctx));
    (mayAsk ? rights.askTools : rights.disallowedTools).push(rule);
  }
  const unplanned = rights.tools?.filter(
    (rule) => rule.startsWith("mcp__") || (ctx.known.tools === undefined && !plans.has(nameTool(rule))),
  );
  const asked = others.ask.flatMap((rule) => unplanned?.filter((one) => mayOverlap(one, rule)) ?? [rule]);
  rights.askTools.push(...asked);
  if (restBase === "ask")
    rights.askTools.push(...(unplanned ?? [ctx.known.tools === undefined && !isList ? "*" : "mcp__*"]));
  if (!isList) return;
  const named = [...plans].flatMap(([tool, { base, allow }]) => (base === "allow" ? [tool] : allow));
  const list = [...named, ...(restBase === "deny" ? [] : ["mcp__*"]), ...others.allow];
  rights.tools = rights.tools === undefined ? list : narrowList(reading, rights.tools, { plans, list });
}

/** Whether a list of rules may speak of a tool: by its name, or by a group or glob. */
function mayList(list: readonly string[], tool: string, { known }: ReadContext): boolean {
  return list.some((rule) => {
    const name = nameTool(rule);
    return name === tool || name.includes("*") || known.groups?.has(name) === true;
  });
}

/** Asks about what a list gives of a tool, since to ask about more would give it; what cannot be asked about so is denied. */
function askWithin(
  ctx: ReadContext,
  list: readonly string[] | undefined,
  { tool, rules }: { tool: string; rules: readonly string[] },
): { ask: readonly string[]; deny: readonly string[] } {
  const own = list?.filter((rule) => nameTool(rule) === tool) ?? [];
  const isWhole = own.length === 0 || own.includes(tool);
  if (list === undefined || (isWhole && mayList(list, tool, ctx))) return { ask: rules, deny: [] };
  return rules.includes(tool) ? { ask: own, deny: [] } : { ask: [], deny: own.length > 0 ? rules : [] };
}

/** What both lists give. A rule on a group gives only the tools by name, since a group cannot be divided. */
function narrowList(
  { ctx }: Reading,
  given: readonly string[],
  { plans, list }: { plans: ReadonlyMap<string, Plan>; list: readonly string[] },
): string[] {
  return given.flatMap((rule) => {
    const name = nameTool(rule);
    const plan = plans.get(name);
    if (plan?.base === "allow" || plan?.base === "ask") return [rule];
    if (plan !== undefined) return rule === name ? plan.allow : plan.allow.filter((each) => each === rule);
    const isServer = name.startsWith("mcp__") && list.includes("mcp__*");
    return isServer || list.includes(rule) || ctx.known.tools === undefined ? [rule] : [];
  });
}

function nameTool(rule: string): string {
  return rule.split("(")[0] ?? rule;
}

type OtherRules = {
  allow: string[];
  ask: string[];
  deny: string[];
  /** Asks that opencode itself would not make: they may not give what a list of tools leaves out. */
  meant: string[];
};

/** Keys that speak of more than our own tools: servers, groups, tools that only opencode has, and mistakes. */
function readOthers(reading: Reading, tools: readonly string[]): OtherRules {
  const { ctx, entries } = reading;
  const others: OtherRules = { allow: [], ask: [], deny: [], meant: [] };
  for (const [index, entry] of entries.entries()) {
    const { path, key, action } = entry;
    if (path === "" || isUniversal(key) || isDelegation(reading, entry)) continue;
    const isTool = speaksOfTool(reading, entry, tools);
    if (action === "allow" && !isTool) readOtherAllow(reading, index, others);
    if (action === "allow") continue;
    const rules = isTool ? serverRules(key) : restrictedRules(ctx, path, key);
    if (isReplaced(entries, index)) continue;
    const exact = isUniversal(entry.pattern) && rules.every((rule) => rule.startsWith("mcp__")) && !isTool;
    others[action === "deny" ? "deny" : exact ? "ask" : "meant"].push(...rules);
  }
  return others;
}

function readOtherAllow(reading: Reading, index: number, others: OtherRules): void {
  const { entries } = reading;
  const entry = entries[index];
  if (entry === undefined) return;
  const rules = allowedHere(reading, entry);
  if (rules === undefined) reportNothingGiven(reading, entry);
  if (rules === undefined || isReplaced(entries, index) || !isUniversal(entry.pattern)) return;
  others.allow.push(...rules);
  const loses = entries
    .slice(0, index)
    .some(
      (earlier) =>
        isStricter(earlier, entry) && !isUniversal(earlier.key) && mayOverlap(earlier.key, entry.key),
    );
  if (loses) reportStricter(reading, entry.key, entry);
}

function speaksOfTool(reading: Reading, entry: Entry, tools: readonly string[]): boolean {
  const byOurName = entry.action !== "allow" || reading.ctx.format !== "opencode";
  return tools.some(
    (tool) =>
      (byOurName && means(reading, entry, tool)) ||
      listPermissionNames(tool).some((name) => matchesOpencode(entry.key, name)),
  );
}

/** A key with a wildcard speaks of servers' tools too, which are `server_tool` there. */
function serverRules(key: string): string[] {
  return /[*?]/.test(key) ? [`mcp__${key.replaceAll(/[_?]/g, "*")}`] : [];
}

function isReplaced(entries: readonly Entry[], index: number): boolean {
  const key = entries[index]?.key ?? "";
  return entries.slice(index + 1).some((later) => decidesAll(later) && coversPattern(later.key, key));
}

/** Whether a rule decides on tools without patterns, which opencode asks for as `*`. */
function decidesAll({ pattern, action }: Entry): boolean {
  return isUniversal(pattern) || (action !== "allow" && matchesOpencode(pattern, "*"));
}

/** The rules that a key of opencode's gives beside our own tools: those of servers. */
function allowedHere({ ctx, meanings }: Reading, { key }: Entry): string[] | undefined {
  const meaning = meanings.get(key);
  if (meaning?.kind !== "rules") return undefined;
  const isServer = meaning.rules.every((rule) => rule.startsWith("mcp__"));
  return isServer || ctx.format !== "opencode" ? meaning.rules : undefined;
}

function reportNothingGiven(reading: Reading, entry: Entry): void {
  const meaning = reading.meanings.get(entry.key);
  if (meaning?.kind === "unknown" || meaning?.kind === "elsewhere")
    reportUnusable(reading.ctx, entry.path, entry.key, meaning);
  else reportStricter(reading, entry.key, entry);
}

function isDelegation({ meanings }: Reading, { key }: Entry): boolean {
  return key === "task" || meanings.get(key)?.kind === "delegate";
}

function givesDelegation(reading: Reading, entry: Entry): boolean {
  if (entry.action === "deny") return false;
  return reading.ctx.format === "opencode" ? entry.key === "task" : isDelegation(reading, entry);
}

/** `task`: whom the agent may delegate to. Only a rule that names delegation gives it; every rule can take it away. */
function readDelegation(reading: Reading, rights: Rights): void {
  const live = findLive(reading, "delegate", "task");
  const gives = (entry: Entry): boolean => givesDelegation(reading, entry);
  const { base, rest } = splitBase(live);
  const before: Entry[] = live.slice(0, live.length - rest.length);
  for (const entry of before) if (gives(entry)) rights.delegateTo.push("*");
  if (before.some((entry) => gives(entry) && entry.action === "ask")) rights.askTools.push("delegate");
  for (const entry of rest) {
    const { exact, atLeast } = translatePattern("agent", entry.pattern);
    const loses = before.some(
      (earlier) =>
        isStricter(earlier, entry) &&
        !isUniversal(earlier.pattern) &&
        mayOverlap(earlier.pattern, entry.pattern),
    );
    const givenBefore = before.some(gives);
    before.push(entry);
    if (loses || (gives(entry) && exact === undefined)) reportStricter(reading, "delegate", entry);
    if (gives(entry)) rights.delegateTo.push(...(exact ?? []));
    if (entry.action === "ask") rights.askTools.push(...delegateRules(atLeast ?? ["*"]));
    if (entry.action === "deny" && (base !== "deny" || givenBefore))
      rights.disallowedTools.push(...delegateRules(atLeast ?? ["*"]));
  }
  for (const { action, pattern } of findMeant(reading, "delegate")) {
    const rules = delegateRules(translatePattern("agent", pattern).atLeast ?? ["*"]);
    (action === "ask" ? rights.askTools : rights.disallowedTools).push(...rules);
  }
  const given = before.some(gives);
  if (base === "deny" && !given && live.some((entry) => isDelegation(reading, entry)))
    rights.disallowedTools.push("delegate");
  const general = live.findLast(({ pattern }) => matchesOpencode(pattern, GENERAL_PURPOSE))?.action;
  if (given && general === "deny") rights.disallowedTools.push(...delegateRules([GENERAL_PURPOSE]));
  if (given && general === "ask") rights.askTools.push(...delegateRules([GENERAL_PURPOSE]));
}

function reportUnreadable(
  ctx: ReadContext,
  path: string,
  value: unknown,
  accepted = "allow, ask or deny",
): void {
  badValue(ctx, path, { value, accepted, instead: "the agent cannot be used", severity: "error" });
}

/** Says once per rule that ours are stricter than what is written; what opencode brings itself is no news. */
function reportStricter({ ctx, said }: Reading, tool: string, { path, action }: Entry): void {
  if (path === "" || said.has(path)) return;
  said.add(path);
  report(ctx, "warning", {
    path,
    code: "stricter-permission",
    message: `${path}: ${action} cannot be said exactly for ${tool} (here deny beats ask and ask beats allow, whatever the order), so the stricter reading is taken`,
    fix: "deny in general first and then allow what is needed, or write it with tools, askTools and disallowedTools",
  });
}
