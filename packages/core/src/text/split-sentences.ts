/** Short forms whose full stop ends no sentence. */
const SHORT_FORMS =
  /(?:^|[\s(])(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|resp|[Nn]o|[Ff]ig|Dr|Mrs?|Ms|Prof|St|(?<!\d\s)[A-Za-z])\.$/;
const LONGEST_SHORT_FORM = 12;
const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** Splits prose into sentences; full stops in short forms, numbers, paths and names end none. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  for (const paragraph of text.split(/\n{2,}/)) {
    const line = paragraph.replace(/\s+/g, " ");
    let from = 0;
    // A sentence may begin with code, whose mark is no letter to the segmenter.
    for (const { segment, index } of segmenter.segment(line.replaceAll("`", "X"))) {
      const to = index + segment.length;
      const end = line.slice(from, to).trimEnd().slice(-LONGEST_SHORT_FORM);
      if (to < line.length && SHORT_FORMS.test(end)) continue;
      sentences.push(line.slice(from, to).trim());
      from = to;
    }
  }
  return sentences.filter((sentence) => sentence !== "");
}
