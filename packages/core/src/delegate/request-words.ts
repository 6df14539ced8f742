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
