import { inlineText, readMarkdown } from "../../../text/read-markdown.ts";
import type { Article } from "../corpus.ts";
import type { Quotation } from "../report/report.ts";

const WORD = "\\p{Lu}[\\p{L}'’-]{0,30}";
const TITLE = "(?:(?:Dr|Prof|Professor|Mr|Mrs|Ms|Sir|Dame)\\.?\\s)?";
/** A name of two to four words, so that a sentence's first word is not taken for one. */
const NAME = `${TITLE}(${WORD}(?:\\s(?:van|von|de|del|der|da|di|du|la|le|bin|al|den|\\p{Lu}\\.|${WORD})){1,3})`;
const SAID =
  "(?:said|says|told|wrote|writes|explained|explains|argued|argues|warned|warns|noted|notes|added|adds|recalled|recalls|observed|observes|admitted|admits|insisted|insists|concluded|concludes|stressed|stresses|put it|puts it|remarked|remarks|cautioned|cautions|recommended|recommends|replied|replies)";
const ROLE = '(?:,\\s([^,.;:“”"]{3,90}))?';
const QUOTED = '[“"]([^“”"]{25,420})[”"]';

/** The ways in which a quotation and its speaker stand together. */
const FORMS: readonly { pattern: RegExp; text: number; name: number; role: number }[] = [
  { pattern: new RegExp(`${QUOTED},?\\s${SAID}\\s${NAME}${ROLE}`, "gu"), text: 1, name: 2, role: 3 },
  { pattern: new RegExp(`${QUOTED},?\\s${NAME}${ROLE},?\\s${SAID}\\b`, "gu"), text: 1, name: 2, role: 3 },
  {
    pattern: new RegExp(
      `${NAME}${ROLE},?\\s${SAID}(?:\\s(?:that|us|in|at|to)\\b[^.“"]{0,60})?[,:]\\s?${QUOTED}`,
      "gu",
    ),
    text: 3,
    name: 1,
    role: 2,
  },
  { pattern: new RegExp(`${QUOTED},?\\saccording to\\s${NAME}${ROLE}`, "gu"), text: 1, name: 2, role: 3 },
];
const MAX_CHARS = 200_000;
const MAX_PER_SOURCE = 2;
const LEAST_WORDS = 5;

/** What named people say in the articles, word for word; a quotation without a speaker is none. */
export function findQuotes(articles: readonly Article[]): Quotation[] {
  return articles.flatMap((article, at) =>
    quotesIn(article.content.slice(0, MAX_CHARS), at + 1).slice(0, MAX_PER_SOURCE),
  );
}

function quotesIn(content: string, source: number): Quotation[] {
  const found = new Map<string, Quotation>();
  for (const block of readMarkdown(content)) {
    if (block.kind !== "prose" || !/[“"]/.test(block.text)) continue;
    for (const form of FORMS) {
      for (const match of block.text.slice(0, 5_000).matchAll(form.pattern)) {
        const text = inlineText(match[form.text] ?? "").replace(/,$/, "");
        const speaker = match[form.name] ?? "";
        const role = roleOf(match[form.role]);
        if (text.split(" ").length < LEAST_WORDS || found.has(text)) continue;
        found.set(text, { text, speaker, ...(role && { role }), cites: [source] });
      }
    }
  }
  return [...found.values()];
}

/** What follows a name is a role only if it names a thing somebody is, and not the rest of the sentence. */
function roleOf(text: string | undefined): string | undefined {
  const role = text?.trim() ?? "";
  return /^(?:a|an|the|who)?\s*\p{L}/u.test(role) &&
    !/\b(?:was|were|is|are|had|has|and then|but)\b/.test(role)
    ? role
    : undefined;
}
