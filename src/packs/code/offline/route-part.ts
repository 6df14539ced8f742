import type { Delegate, OfflineCall } from "../../../models/offline/procedure.ts";
import { termsOf, wordsOf } from "../../../text/terms.ts";
import { directCall } from "./direct-call.ts";
import { type Intent, intentOf, intentsIn } from "./intents.ts";

/** Who does a part: one of the agent's own tools, a delegate, the agent's own search, or nobody. */
export type Route =
  | { kind: "call"; call: OfflineCall }
  | { kind: "delegate"; agent: string; why: string }
  | { kind: "self" }
  | { kind: "nobody"; intent: Intent | undefined };

/** What there is to route to. */
export type Offer = { tools: readonly string[]; delegates: readonly Delegate[] };

const NAME_WEIGHT = 3;
const LEAST_SCORE = 2;

/** Picks who does a part: whom it names, else one call that answers it, else the delegate that speaks most of such work. */
export function routePart(part: string, { tools, delegates }: Offer): Route {
  const named = namedIn(part, delegates);
  if (named) return { kind: "delegate", agent: named.name, why: "you named it" };
  const call = directCall(part, tools);
  if (call) return { kind: "call", call };
  const intent = intentOf(part);
  const [best] = delegates
    .map((delegate) => ({ delegate, score: scoreOf(part, intent, delegate, delegates) }))
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
function namedIn(part: string, delegates: readonly Delegate[]): Delegate | undefined {
  return delegates.find(({ name }) => {
    const spelled = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[-_]/g, "[-_ ]");
    const call = `@${spelled}\\b|\\b(?:ask|use|let|have|tell|get|delegate to|hand (?:it|this) to|send (?:it|this) to|with|via)\\s+(?:the\\s+|a\\s+|an\\s+)?${spelled}\\b(?:\\s+(?:agent|to|for|and)|\\s*[,:.]|$)`;
    return new RegExp(call, "i").test(part);
  });
}

/**
 * Work of the part's kind decides: an agent that is named after it counts most, then how much of its description is
 * about it. Rare words that both share come on top. Who does not do such work at all gets nothing for words.
 */
function scoreOf(
  part: string,
  intent: Intent | undefined,
  delegate: Delegate,
  all: readonly Delegate[],
): number {
  const kinds = intentsIn(delegate.description);
  const named = intentsIn(delegate.name.replaceAll(/[-_]/g, " "));
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
  return score + overlap(part, delegate, all);
}

function isReadOnly({ description }: Delegate): boolean {
  return /\b(?:changes|writes|edits|modifies) nothing\b|\bread[- ]only\b|\bnever (?:writes|changes|edits)\b/i.test(
    description,
  );
}

/** Shared words, each weighed by how few delegates have it; words of the name count three times. */
function overlap(part: string, delegate: Delegate, all: readonly Delegate[]): number {
  const asked = new Set(termsOf(part));
  const inName = new Set(termsOf(wordsOf(delegate.name).join(" ")));
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
