const TITLE = /^\d+\. “.*” \([\w-]+\)$/;

/** Of an answer in numbered parts, nested ones too: what each part was, who did it, and its first paragraph; else all of it. */
export function digestAnswer(text: string): string[] {
  const paragraphs = text.split(/\n{2,}/).map((each) => each.trim());
  const digest = paragraphs.flatMap((paragraph, index) => {
    if (!TITLE.test(paragraph)) return [];
    const next = paragraphs[index + 1] ?? "";
    const [first = ""] = TITLE.test(next) ? [""] : next.split("\n");
    return [paragraph.replace(/^\d+\./, "•"), ...(first ? [`  ${first}`] : [])];
  });
  return digest.length > 0 ? digest : text.split("\n");
}
