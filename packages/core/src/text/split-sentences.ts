/** Short forms whose full stop ends no sentence. */
const SHORT_FORMS =
  /(?:^|[\s(])(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|resp|[Nn]o|[Ff]ig|Dr|Mrs?|Ms|Prof|St|(?<!\d\s)[A-Za-z])\.$/;
/** A run of stops is looked at once, from where it begins, so that a page full of them costs no more than its length. */
const END = /(?<![.!?…])[.!?…]+["'”’»)\]]*(?=\s+["'“‘«(`[]?[\p{Lu}\d`])|\n{2,}/gu;

/** Splits prose into sentences; full stops in short forms, numbers, paths and names end none. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of text.matchAll(END)) {
    const to = match.index + match[0].length;
    if (match[0] === "." && SHORT_FORMS.test(text.slice(Math.max(0, to - 12), to))) continue;
    sentences.push(text.slice(from, to));
    from = to;
  }
  sentences.push(text.slice(from));
  return sentences
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}
