import type { Agent, MandatoryDelegation, Trigger } from "../schema/agent.ts";
import { hasPhrase, requestWords } from "./request-words.ts";

/** The delegations that a person's request makes mandatory, of those that its agent can make; none to itself. */
export function mandatoryDelegations(
  request: string,
  { agent, delegates }: { agent: Agent; delegates: readonly Agent[] },
): MandatoryDelegation[] {
  const strict = delegates.filter((each) => each.delegation?.mandatory && each.name !== agent.name);
  if (strict.length === 0) return [];
  const words = requestWords(request);
  return strict.flatMap(({ name, delegation }) => {
    const hit = delegation?.triggers.find((trigger) => isMarkedBy(words, trigger));
    if (hit === undefined) return [];
    return [{ agent: name, word: typeof hit === "string" ? hit : hit.word }];
  });
}

/** Whether a request has the trigger's word, one of what must be with it, and nothing that speaks against it. */
export function isMarkedBy(words: readonly string[], trigger: string | Trigger): boolean {
  if (typeof trigger === "string") return hasPhrase(words, trigger);
  const { word, with: besides, not = [] } = trigger;
  const has = (phrase: string) => hasPhrase(words, phrase);
  return has(word) && (besides?.some(has) ?? true) && !not.some(has);
}
