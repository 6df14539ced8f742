/** Short forms whose full stop ends no sentence. */
const SHORT_FORMS =
  /(?:^|[\s(])(?:[Ee]\.g|[Ii]\.e|etc|vs|cf|approx|resp|[Nn]o|[Ff]ig|Dr|Mrs?|Ms|Prof|St|(?<!\d\s)[A-Za-z])\.$/;
let segmenter: Intl.Segmenter | undefined;

/** Splits prose into sentences, in any language; full stops in short forms, numbers, paths and names end none. */
export function splitSentences(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" });
  const sentences: string[] = [];
  for (const written of text.split(/\n{2,}/)) {
    const paragraph = written.replace(/\s+/g, " ");
    let from = 0;
    // Code begins a sentence like a capital letter, however it is written itself.
    for (const { segment, index } of segmenter.segment(paragraph.replaceAll(" `", " A"))) {
      const to = index + segment.length;
      if (SHORT_FORMS.test(paragraph.slice(Math.max(from, to - 14), to).trimEnd())) continue;
      sentences.push(paragraph.slice(from, to));
      from = to;
    }
    sentences.push(paragraph.slice(from));
  }
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
}
