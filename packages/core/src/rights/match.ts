import type { Access, Rule } from "../schema/rights.ts";
import { compileWildcard, matchesWildcard, type Wildcard } from "../text/wildcard.ts";
import {
  allows,
  leadingSubjects,
  type Pattern,
  type Subject,
  toSubject,
  touches,
} from "./patterns/pattern.ts";

/** One access on its way through the chain, with what several rules need of it. */
export type Call = { readonly access: Access; subjects?: readonly Subject[]; leading?: readonly Subject[] };

type CompiledRule = {
  readonly tool: Wildcard | undefined;
  readonly pattern: Pattern | undefined;
  readonly except: readonly Pattern[];
};

const compiledRules = new WeakMap<Rule, CompiledRule>();

/** Whether an ask or deny rule is about this tool: by its name, by a group of it, or by a glob. Case counts. */
export function speaksOf(rule: Rule, access: Pick<Access, "tool" | "groups">): boolean {
  if (rule.tool === access.tool || access.groups.includes(rule.tool)) return true;
  // Or an agent that is denied `delegate` could still use `delegate_many`.
  if (rule.tool === "delegate" && access.tool === "delegate_many") return true;
  const wildcard = rule.tool.includes("*") ? compile(rule).tool : undefined;
  return wildcard !== undefined && matchesWildcard(wildcard, access.tool);
}

/** Groups that are also the name of one of their tools. */
const NAMED_LIKE_A_TOOL: ReadonlySet<string> = new Set(["git", "shell", "test"]);

/** Whether an allow rule is about this tool: a name that is a tool's and a group's gives the tool alone. */
export function gives(rule: Rule, access: Pick<Access, "tool" | "groups">): boolean {
  if (rule.tool !== access.tool && NAMED_LIKE_A_TOOL.has(rule.tool)) return false;
  return speaksOf(rule, access);
}

/** Whether a rule speaks of every call of its tools. */
export function isBare(rule: Rule): boolean {
  return rule.pattern === undefined && rule.mode === undefined && rule.except === undefined;
}

/** Whether an ask or deny rule applies: any one target it touches is enough. */
export function hits(rule: Rule, call: Call): boolean {
  if (!speaksOf(rule, call.access)) return false;
  if (isBare(rule)) return true;
  const { pattern, except } = compile(rule);
  if (!pattern && rule.mode === undefined) {
    const leading = leadingOf(call);
    return leading.length === 0 || leading.some((subject) => !isExcepted(except, subject));
  }
  return subjectsOf(call).some(
    (subject) =>
      hasMode(rule, subject) && (!pattern || touches(pattern, subject)) && !isExcepted(except, subject),
  );
}

/**
 * The first rule that lets the call pass, if together the rules leave nothing of it uncovered: every target, and
 * every part of a command, needs an allow or ask rule that covers it. What an ask rule only may mean it asks about, but
 * does not give.
 */
export function findCover(call: Call, allow: readonly Rule[], ask: readonly Rule[]): Rule | undefined {
  const bare = allow.find((rule) => isBare(rule) && gives(rule, call.access));
  if (bare) return bare;
  const bareAsk = ask.find((rule) => isBare(rule) && speaksOf(rule, call.access));
  if (bareAsk) return bareAsk;
  let first: Rule | undefined;
  for (const subject of leadingOf(call)) {
    const cover =
      allow.find((rule) => isCovering(rule, call.access, subject)) ??
      ask.find((rule) => speaksOf(rule, call.access) && isInPattern(rule, subject));
    if (!cover) return undefined;
    first ??= cover;
  }
  return first;
}

/** Whether a person's rules name every outbound target of the call: a pattern of stars alone names nobody. */
export function isConsent(call: Call, allow: readonly Rule[]): boolean {
  return call.access.targets.some(isOutbound) && namesAll(call, allow, subjectsOf(call).filter(isOutbound));
}

/** Whether a person's rules name every part of the command that the call runs. */
export function isCommandNamed(call: Call, allow: readonly Rule[]): boolean {
  return call.access.targets.some(({ kind }) => kind === "command") && namesAll(call, allow, leadingOf(call));
}

function namesAll(call: Call, allow: readonly Rule[], subjects: readonly Subject[]): boolean {
  const naming = allow.filter((rule) => /[^*@.\s]/.test(rule.pattern ?? "") && gives(rule, call.access));
  if (naming.length === 0) return false;
  return subjects.every((subject) => naming.some((rule) => isCovering(rule, call.access, subject)));
}

function isOutbound({ kind }: { kind: string }): boolean {
  return kind === "host" || kind === "recipient";
}

function isCovering(rule: Rule, access: Access, subject: Subject): boolean {
  return gives(rule, access) && isInPattern(rule, subject);
}

/** Whether a rule surely means the subject. */
function isInPattern(rule: Rule, subject: Subject): boolean {
  const { pattern, except } = compile(rule);
  if (!hasMode(rule, subject)) return false;
  return (!pattern || allows(pattern, subject)) && !except.some((each) => touches(each, subject));
}

function hasMode(rule: Rule, subject: Subject): boolean {
  return rule.mode === undefined || (subject.kind === "path" && subject.target.mode === rule.mode);
}

function isExcepted(except: readonly Pattern[], subject: Subject): boolean {
  return except.some((pattern) => allows(pattern, subject));
}

function subjectsOf(call: Call): readonly Subject[] {
  call.subjects ??= call.access.targets.map(toSubject);
  return call.subjects;
}

function leadingOf(call: Call): readonly Subject[] {
  call.leading ??= leadingSubjects(call.access, subjectsOf(call));
  return call.leading;
}

function compile(rule: Rule): CompiledRule {
  const known = compiledRules.get(rule);
  if (known) return known;
  const compiled: CompiledRule = {
    tool: rule.tool.includes("*") ? compileWildcard(rule.tool) : undefined,
    pattern: rule.pattern === undefined ? undefined : { text: rule.pattern },
    except: (rule.except ?? []).map((text) => ({ text })),
  };
  compiledRules.set(rule, compiled);
  return compiled;
}

/** Whether the call was found to hold a command that cannot be fully understood. */
export function isUnreadable(call: Call): boolean {
  return (
    call.subjects?.some((subject) => subject.kind === "command" && subject.reading?.opaque === true) ?? false
  );
}
