import { isStopWord, stemWord } from "./terms.ts";

/** A phrase that several sentences use. */
export type KeyPhrase = {
  /** The form it is mostly written in. */
  readonly text: string;
  readonly stems: readonly string[];
  /** Indexes of the sentences that use it. */
  readonly sentences: readonly number[];
  readonly score: number;
};

type Candidate = {
  stems: string[];
  forms: Map<string, number>;
  sentences: Set<number>;
  /** How often it occurs, and how often in a noun's place. */
  uses: number;
  asNoun: number;
};
type Word = { text: string; afterArticle: boolean };

const MAX_WORDS = 3;
/** How often a longer phrase must occur so that a part of it is no phrase of its own. */
const SWALLOWED = 0.6;
/** A single word that is in a noun's place less often than this is a verb or an adjective. */
const NOUN_SHARE = 0.3;
/** Words that a noun follows. */
const BEFORE_NOUN =
  /^(?:a|an|the|of|each|every|its|their|our|your|his|her|no|any|this|that|these|those|one|two|three|four|by|for|with|without|from|in|on|per|and|or|between|\d[\d.,]*)$/i;
const LENGTH_BONUS = [0, 0.6, 2, 2.3];

/** Words that are in every text and name no theme. */
const VAGUE = new Set(
  `able across actually against almost along among already always another around article back become becomes best better big bigger called case
  cases cent change changed come comes common day days different early enough even example fact far find first five four
  full good great half hard high higher hour hours however important instead keep keeps kept kind last late later least
  less likely little long look lot low lower main many may mean means might million minute minutes month months never new
  next nearly often old open part people percent per place point possible put quite rather real really report reported
  reports rest result results right said says second seconds seem set several show shows simple since single small
  something sometimes soon study sure tell ten thirty third thousand three time times today told true turn twenty usually
  week weeks well whole work works world write writes wrote year years yet hundred billion six seven eight nine typical
  typically average annual per-cent according number numbers amount value values every anything nothing everything
  someone anyone nobody everyone cannot beyond besides despite except toward towards unlike via onto amid failed fail fails read reads kept cost costs paid pay took takes taken gone going gave went came seen saw held holds hold stand stands stood lost lose loses can't don't isn't doesn't won't ask asked asks run runs ran`.split(
    /\s+/,
  ),
);

/** Phrases of up to three words by how many sentences use them and how long they are, the best first. */
export function keyPhrases(sentences: readonly string[]): KeyPhrase[] {
  const found = new Map<string, Candidate>();
  for (const [at, sentence] of sentences.entries())
    for (const words of splitChunks(sentence)) collect(found, words, at);
  const frequent = [...found.values()].filter((each) => each.sentences.size >= 2);
  const swallowed = swallowedIn(frequent);
  return frequent
    .filter((each) => !swallowed.has(each) && isNaming(each))
    .map((each): KeyPhrase => {
      const bonus = LENGTH_BONUS[each.stems.length] ?? 1;
      const score = each.sentences.size * bonus;
      return { text: usualForm(each), stems: each.stems, sentences: [...each.sentences], score };
    })
    .sort((a, b) => b.score - a.score || (a.text < b.text ? -1 : 1));
}

/** Words in a row that no stop word or mark separates. */
function splitChunks(sentence: string): Word[][] {
  return sentence.split(/[^\p{L}\p{N}\s'’-]+/u).flatMap((clause) => {
    const chunks: Word[][] = [[]];
    let before = "";
    for (const word of clause.split(/\s+/)) {
      const text = word.replace(/^['’-]+|['’-]+$|['’]s$/gu, "");
      const names = /^\p{L}[\p{L}\p{N}'’-]+$/u.test(text) && !isStopWord(text.toLowerCase());
      if (names && !VAGUE.has(text.toLowerCase()))
        chunks.at(-1)?.push({ text, afterArticle: BEFORE_NOUN.test(before) });
      else chunks.push([]);
      before = text;
    }
    return chunks.filter((chunk) => chunk.length > 0);
  });
}

function collect(found: Map<string, Candidate>, words: readonly Word[], at: number): void {
  for (let from = 0; from < words.length; from++) {
    for (let length = 1; length <= MAX_WORDS && from + length <= words.length; length++) {
      const part = words.slice(from, from + length);
      const stems = part.map(({ text }) => stemWord(text.toLowerCase().replace(/ies$/, "y")));
      const key = stems.join(" ");
      const form = part.map(({ text }) => inLowerCase(text)).join(" ");
      const known = found.get(key) ?? { stems, forms: new Map(), sentences: new Set(), uses: 0, asNoun: 0 };
      known.forms.set(form, (known.forms.get(form) ?? 0) + 1);
      known.sentences.add(at);
      known.uses++;
      if (part[0]?.afterArticle && from + length === words.length) known.asNoun++;
      found.set(key, known);
    }
  }
}

/** Abbreviations and names such as `SQLite` keep their case. */
function inLowerCase(word: string): string {
  return /\p{L}.*\p{Lu}/u.test(word) ? word : word.toLowerCase();
}

/** Parts of longer phrases that are hardly ever alone. */
function swallowedIn(all: readonly Candidate[]): Set<Candidate> {
  const byKey = new Map(all.map((each) => [each.stems.join(" "), each]));
  const swallowed = new Set<Candidate>();
  for (const { stems, sentences } of all) {
    if (stems.length < 2) continue;
    for (const part of [stems.slice(0, -1), stems.slice(1), ...stems.map((stem) => [stem])]) {
      const shorter = byKey.get(part.join(" "));
      if (shorter && sentences.size >= SWALLOWED * shorter.sentences.size) swallowed.add(shorter);
    }
  }
  return swallowed;
}

/** Adverbs and single words that are no nouns name nothing. */
function isNaming(candidate: Candidate): boolean {
  const form = usualForm(candidate);
  if (/ly$/.test(form) || /^\p{L}+ly /u.test(form)) return false;
  if (candidate.stems.length > 1) return true;
  return form.length > 3 && !/(?:ing|ed)$/.test(form) && candidate.asNoun >= NOUN_SHARE * candidate.uses;
}

function usualForm({ forms }: Candidate): string {
  const [[form] = [""]] = [...forms].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return form;
}
