import { escapePattern } from "@retinue/code/symbols/code-symbol";
import { splitWords, termsOf } from "@retinue/core/text/terms";
import type { Delegate, OfflineCall } from "../conversation.ts";
import { countIntents, findIntent, type Intent } from "./intents.ts";

/** Who does a part: one of the agent's own tools, a delegate, the agent's own search, or nobody. */
export type PartRoute =
  | { kind: "call"; call: OfflineCall }
  | { kind: "delegate"; agent: string; why: string }
  | { kind: "self" }
  | { kind: "nobody"; intent: Intent | undefined };

/** What there is to route to. */
type Offer = { tools: readonly string[]; delegates: readonly Delegate[] };

const NAME_WEIGHT = 3;
const LEAST_SCORE = 2;

/** Picks who does a part: whom it names, else one call that answers it, else the delegate that speaks most of such work. */
export function routePart(part: string, { tools, delegates }: Offer): PartRoute {
  const named = findNamed(part, delegates);
  if (named) return { kind: "delegate", agent: named.name, why: "you named it" };
  const call = findDirectCall(part, tools);
  if (call) return { kind: "call", call };
  const intent = findIntent(part);
  const [best] = delegates
    .map((delegate) => ({ delegate, score: rateDelegate(part, intent, delegate, delegates) }))
    .filter(({ score }) => score >= LEAST_SCORE)
    .sort((a, b) => b.score - a.score);
  if (best)
    return {
      kind: "delegate",
      agent: best.delegate.name,
      why: intent ? `it asks to ${intent}` : "its words fit",
    };
  if (intent === "look" && tools.includes("grep") && tools.includes("read")) return { kind: "self" };
  return { kind: "nobody", intent };
}

/** `ask the reviewer to …`, `use researcher`, `@tester`; a name in passing does not count. */
function findNamed(part: string, delegates: readonly Delegate[]): Delegate | undefined {
  return delegates.find(({ name }) => {
    const spelled = escapePattern(name).replace(/[-_]/g, "[-_ ]");
    const call = `@${spelled}\\b|\\b(?:ask|use|let|have|tell|get|delegate to|hand (?:it|this) to|send (?:it|this) to|with|via)\\s+(?:the\\s+|a\\s+|an\\s+)?${spelled}\\b(?:\\s+(?:agent|to|for|and)|\\s*[,:.]|$)`;
    return new RegExp(call, "i").test(part);
  });
}

/**
 * Work of the part's kind decides: an agent that is named after it counts most, then how much of its description is
 * about it. Rare words that both share come on top. Who does not do such work at all gets nothing for words.
 */
function rateDelegate(
  part: string,
  intent: Intent | undefined,
  delegate: Delegate,
  all: readonly Delegate[],
): number {
  const kinds = countIntents(delegate.description);
  const named = countIntents(delegate.name.replaceAll(/[-_]/g, " "));
  const [own] = named.keys();
  let score = 0;
  if (intent) {
    const count = kinds.get(intent) ?? 0;
    const whole = [...kinds.values()].reduce((sum, each) => sum + each, 0);
    score =
      (named.has(intent) ? NAME_WEIGHT : 0) +
      (whole > 0 ? (2 * count) / whole : 0) +
      Math.min(count, 2) * 0.75;
    if (intent === "write" && (isReadOnly(delegate) || count + (named.get(intent) ?? 0) === 0)) return 0;
    if (own && own !== intent && !kinds.has(intent)) return 0;
  }
  return score + rateOverlap(part, delegate, all);
}

function isReadOnly({ description }: Delegate): boolean {
  return /\b(?:changes|writes|edits|modifies) nothing\b|\bread[- ]only\b|\bnever (?:writes|changes|edits)\b/i.test(
    description,
  );
}

/** Shared words, each weighed by how few delegates have it; words of the name count three times. */
function rateOverlap(part: string, delegate: Delegate, all: readonly Delegate[]): number {
  const asked = new Set(termsOf(part));
  const inName = new Set(termsOf(splitWords(delegate.name).join(" ")));
  let sum = 0;
  for (const term of new Set([...termsOf(delegate.description), ...inName])) {
    if (!asked.has(term) || COMMON.has(term)) continue;
    const holders = all.filter((each) => termsOf(`${each.name} ${each.description}`).includes(term)).length;
    sum += (inName.has(term) ? NAME_WEIGHT : 1) / Math.max(1, holders);
  }
  return sum;
}

/** Words of nearly every project and agent. */
const COMMON = new Set(
  termsOf(
    "project code file files agent task work find search report project's question questions something",
  ),
);

/** A path as people write it: with a slash or an ending, quoted or not. */
const PATH = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w@-]*\\.[\\w-]+|(?:[\\w.@-]+\\/)+[\\w.@-]*)[`\"'”]?";
const FOLDER = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w.@-]*[\\w@-]\\/?|\\.)[`\"'”]?";
const QUOTED = '[`"“]([^`"”]+)[`"”]';
const LEAD = "^(?:please\\s+)?(?:can you\\s+|could you\\s+)?";
const END = "\\s*[.?!]*$";

type Rule = { tool: string; pattern: RegExp; input: (groups: readonly string[]) => OfflineCall["input"] };

const rule = (tool: string, pattern: string, input: Rule["input"]): Rule => ({
  tool,
  pattern: new RegExp(LEAD + pattern + END, "i"),
  input,
});

const SHOWN = "(?:read|show(?: me)?|cat|print|open|display|output)";
const FILES =
  "(?:the\\s+|all\\s+|all the\\s+)?(?:files|folders|directories|contents)(?:\\s+and\\s+(?:files|folders|directories))?";
const IN = "(?:in|of|inside|under|below|within)\\s+(?:the\\s+)?(?:folder\\s+|directory\\s+)?";
const HERE =
  "(?:\\s+(?:here|there are|(?:in|of)\\s+(?:the|this)\\s+(?:project|repository|repo|folder|directory|root)))?";

/** Requests that one call of a tool answers, as they stand. */
const RULES: readonly Rule[] = [
  rule(
    "glob",
    `(?:find|list|show)(?: me)?\\s+(?:the\\s+|all\\s+|all the\\s+)?[\`"']?(\\*\\*?[\\w./*{},-]+)[\`"']?(?:\\s+files)?`,
    ([pattern = ""]) => ({ pattern }),
  ),
  rule(
    "glob",
    `(?:find|list|show)(?: me)?\\s+(?:the\\s+|all\\s+|all the\\s+)?files\\s+(?:named|called|matching|like)\\s+[\`"']?([\\w./*{},@-]+)[\`"']?`,
    ([pattern = ""]) => ({ pattern }),
  ),
  rule(
    "ls",
    `(?:list|show(?: me)?|ls|print|display)\\s+${FILES}\\s+${IN}${FOLDER}(?:\\s+(?:folder|directory))?`,
    ([path = "."]) => ({ path }),
  ),
  rule("ls", `(?:what|which)\\s+files\\s+are\\s+(?:there\\s+)?${IN}${FOLDER}`, ([path = "."]) => ({ path })),
  rule("ls", `(?:list|show(?: me)?|print|display)\\s+${FILES}${HERE}`, () => ({})),
  rule("ls", `(?:what|which)\\s+files\\s+are(?:\\s+there)?${HERE}`, () => ({})),
  rule("ls", `ls(?:\\s+${FOLDER})?`, ([path]) => (path ? { path } : {})),
  rule(
    "read",
    `${SHOWN}\\s+(?:the\\s+)?(?:file\\s+|contents? of\\s+|file contents? of\\s+)?${PATH}(?:\\s+file)?`,
    ([path = ""]) => ({ path }),
  ),
  rule(
    "grep",
    `(?:grep|search)\\s+(?:for\\s+)?${QUOTED}(?:\\s+in\\s+${FOLDER})?`,
    ([pattern = "", path]) => ({ pattern, fixed: true, ...(path && { path }) }),
  ),
  rule("grep", `grep\\s+(?:for\\s+)?(\\S+)(?:\\s+(?:in\\s+)?${FOLDER})?`, ([pattern = "", path]) => ({
    pattern,
    fixed: true,
    ...(path && { path }),
  })),
  rule(
    "write",
    `(?:write|save|put)\\s+(?:the text\\s+)?${QUOTED}\\s+(?:to|into|in)\\s+(?:the\\s+|a\\s+)?(?:new\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?${PATH}`,
    ([content = "", path = ""]) => ({ path, content: `${content}\n` }),
  ),
];

/** The one call that answers a part, if there is such a call and the tool for it is offered. */
function findDirectCall(part: string, tools: readonly string[]): OfflineCall | undefined {
  for (const { tool, pattern, input } of RULES) {
    const match = tools.includes(tool) ? pattern.exec(part.trim()) : null;
    if (match) return { tool, input: input(match.slice(1).map((group) => group ?? "")) };
  }
  return undefined;
}
