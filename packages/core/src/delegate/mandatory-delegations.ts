import type { Agent, MandatoryDelegation, Trigger } from "../schema/agent.ts";

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

/** What a request quotes as code. */
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const ADDRESS = /^\W*[a-z][a-z0-9+.-]*:\/\/|\w\.(?:com|org|net|gov|edu|io|info|eu)$/i;
const PATH = /^\W*~?\.{0,2}\/\w|\w[/\\]\w+[/\\]|\w{2}\.[a-z]\w{0,4}$/i;
const CALL_OR_FLAG = /^\W*--\w|\w\(\)/;
/** Names such as `src/report`, `report_page` and `reportPage`, which may be anything. */
const COMPOUND = /\w[/\\]\w|\w_\w|^\W*[a-z]+[A-Z]/;

/**
 * The words of a request in lower case. Code counts as the word `code`, a path as `file` and an address as `link`, and other
 * compound names are left out, so that a name that happens to hold a word is not taken for it.
 */
export function requestWords(text: string): string[] {
  return text.normalize("NFKC").replaceAll(CODE, " code ").split(/\s+/).flatMap(wordsOf);
}

function wordsOf(token: string): string[] {
  const bare = token.replace(/\p{P}+$/u, "");
  if (ADDRESS.test(bare)) return ["link"];
  if (PATH.test(bare)) return ["file"];
  if (CALL_OR_FLAG.test(token)) return ["code"];
  return COMPOUND.test(bare) ? [] : plainWords(token);
}

/** Whether a word, or several in a row, are among the words of a request, also in the plural. */
export function hasPhrase(words: readonly string[], phrase: string): boolean {
  const wanted = plainWords(phrase.normalize("NFKC"));
  if (wanted.length === 0) return false;
  return words.some((_, at) => wanted.every((word, index) => isFormOf(words[at + index], word)));
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The word itself or its plural. */
function isFormOf(found: string | undefined, word: string): boolean {
  if (found === word) return true;
  return found === `${word}s` || found === `${word}es` || found === word.replace(/y$/, "ies");
}
