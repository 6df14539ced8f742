/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by
  can could did do does doing done down during each either else ever every few for from further get gets give given go
  had has have having he her here hers him his how i if in into is it its itself just know let like made make makes me
  more most much must my need needs no nor not now of off on once one only or other our out over own please same say
  see she so some still such take than that the their them then there these they thing things this those through to
  too two under until up upon us use used uses using very want was way we were what when where whether which while
  who whom whose why will with within without would yes you your`.split(/\s+/),
);

/** Endings that only bend a word, longest first. */
const ENDINGS =
  "ations ation ments ment ings ing ency ancy ences ence ances ance ents ent ants ant ities ity ators ator ated ates ate ers ors er or ed ies es ions ion ness able ible ally ly al e s y".split(
    " ",
  );
const LEAST_STEM = 4;

/** The words of a text in lower case; names are split where their case changes and at `_`, `-`, `.` and `/`. */
export function splitWords(text: string): string[] {
  return (
    text
      .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
      .toLowerCase()
      .match(/\p{L}[\p{L}\p{N}]*(?:['’]\p{L}+)?/gu) ?? []
  );
}

/** Whether a word in lower case says nothing by itself. */
export function isStopWord(word: string): boolean {
  return word.length < 2 || STOP_WORDS.has(word.replace(/['’].*$/, ""));
}

/** The part of a word that its forms share: `limits`, `limited` and `limiter` all give `limit`. */
export function stemWord(word: string): string {
  let stem = word.replace(/['’].*$/, "");
  for (let pass = 0; pass < 2; pass++) {
    const ending = ENDINGS.find((each) => stem.length - each.length >= LEAST_STEM && stem.endsWith(each));
    if (ending === undefined || stem.endsWith("ss")) break;
    stem = stem.slice(0, -ending.length);
  }
  return stem.replace(/(?<=..)([bdgmnprt])\1$/, "$1");
}

/** What a text is about: the stems of its words without those that say nothing, in order and with repetitions. */
export function listTerms(text: string): string[] {
  return splitWords(text)
    .filter((word) => !isStopWord(word))
    .map(stemWord);
}
