import { inlineText, readMarkdown } from "@retinue/core/text/read-markdown";
import { splitSentences } from "@retinue/core/text/split-sentences";
import { listTerms } from "@retinue/core/text/terms";
import { cutAt } from "@retinue/core/tools/truncate";
import type { Article } from "../corpus.ts";
import {
  findNumbers,
  findQuantities,
  findStated,
  indexNumbers,
  type NumberIndex,
  type WrittenNumber,
  writeNumber,
} from "./find-numbers.ts";
import type { Passage, ResearchReport } from "./report.ts";

/** A number that was not found in the sources cited for it, where it is, and what may be done about it. */
type NumberWarning = { readonly number: string; readonly where: string; readonly text: string };

/** What does not hold in a report: faults, for which it is refused, each with what would be accepted; and warnings. */
type ReportCheck = { readonly faults: string[]; readonly warnings: NumberWarning[] };

const MAX_NEAREST = 300;
const MAX_QUOTED = 60;

/**
 * Compares a report with its sources. Figures and charts must have their numbers from the source. Elsewhere a number that
 * is not found is only a warning: it may be computed, and a wrong refusal costs more than a number that is missed.
 */
export function checkReport(report: ResearchReport, articles: readonly Article[]): ReportCheck {
  const sources = new Sources(articles);
  return {
    faults: [...checkCitations(report), ...checkQuotes(report, sources), ...checkStated(report, sources)],
    warnings: checkProse(report, sources),
  };
}

type SourceSentence = { readonly sentence: string; readonly terms: ReadonlySet<string> };

/** The sources of a report by their numbers, each read when it is first asked for. */
class Sources {
  readonly all: readonly number[];
  readonly #articles: readonly Article[];
  readonly #indexes = new Map<number, NumberIndex>();
  readonly #sentences = new Map<number, readonly SourceSentence[]>();

  constructor(articles: readonly Article[]) {
    this.#articles = articles;
    this.all = articles.map((_, at) => at + 1);
  }

  has(number: number): boolean {
    return this.#articles[number - 1] !== undefined;
  }

  /** The sources among these in which a number stands, in the page's title and date as well. */
  holding(written: WrittenNumber, among: readonly number[]): number[] {
    return among.filter((number) => this.#index(number)?.has(written));
  }

  /** The sources among these in which a text is word for word. */
  saying(text: string, among: readonly number[]): number[] {
    const words = bareWords(text);
    return words === "" ? [] : among.filter((number) => this.#plain(number).includes(words));
  }

  /** The sentence of these sources that shares most words with a text; undefined if none has a word of it. */
  findNearest(text: string, among: readonly number[]): { sentence: string; number: number } | undefined {
    const asked = [...new Set(listTerms(text))];
    let best: { sentence: string; number: number; like: number } | undefined;
    for (const number of among) {
      for (const { sentence, terms } of this.#read(number)) {
        const like = asked.filter((term) => terms.has(term)).length / Math.sqrt(terms.size || 1);
        if (like > (best?.like ?? 0)) best = { sentence, number, like };
      }
    }
    return best;
  }

  #index(number: number): NumberIndex | undefined {
    const article = this.#articles[number - 1];
    if (!article) return undefined;
    const known = this.#indexes.get(number);
    if (known) return known;
    const index = indexNumbers([article.title, article.date ?? "", article.content].join("\n"));
    this.#indexes.set(number, index);
    return index;
  }

  #read(number: number): readonly SourceSentence[] {
    const known = this.#sentences.get(number);
    if (known) return known;
    const sentences = readMarkdown(this.#articles[number - 1]?.content ?? "")
      .flatMap((block) =>
        block.kind === "prose" ? splitSentences(block.text) : block.rows.map((row) => row.join(" ")),
      )
      .map((sentence) => ({ sentence, terms: new Set(listTerms(sentence)) }));
    this.#sentences.set(number, sentences);
    return sentences;
  }

  #plain(number: number): string {
    return bareWords(
      this.#read(number)
        .map(({ sentence }) => sentence)
        .join(" "),
    );
  }
}

function checkCitations({ sources, ...report }: ResearchReport): string[] {
  const faults: string[] = [];
  const range = sources.length === 1 ? "[1]" : `[1] to [${sources.length}]`;
  const check = (cites: readonly number[], where: string) => {
    for (const number of cites)
      if (number < 1 || number > sources.length)
        faults.push(
          `${where} cites [${number}], but there are ${sources.length} sources: cite one of ${range}, or take the claim out`,
        );
  };
  for (const { where, passages } of listProse(report)) check(listCites(passages), where);
  for (const { heading, paragraphs } of report.themes)
    for (const [at, paragraph] of paragraphs.entries())
      if (listCites(paragraph).length === 0)
        faults.push(
          `paragraph ${at + 1} of “${heading}” cites no source: put the number of its source in brackets behind each claim (${range}), or take the paragraph out`,
        );
  for (const { speaker, cites } of report.quotes) check(cites, `the quotation of ${speaker}`);
  return [...new Set(faults)];
}

function checkQuotes({ quotes }: ResearchReport, sources: Sources): string[] {
  return quotes.flatMap(({ text, cites }) => {
    if (!cites.every((number) => sources.has(number)) || sources.saying(text, cites).length > 0) return [];
    const fault = `the quotation “${cutAt(text, MAX_QUOTED)}” does not stand word for word in source ${cites.join(", ")}`;
    const [elsewhere] = sources.saying(text, sources.all);
    if (elsewhere !== undefined) return [`${fault}: it stands in [${elsewhere}], cite that`];
    const nearest = describeNearest(text, cites, sources);
    return [
      `${fault}: quote the words as they are there${nearest}, or say it in your own words with [${cites.join(", ")}]`,
    ];
  });
}

/** A fault for each figure, and each bar of a chart, of which a number does not stand in its sources. */
function checkStated({ figures, charts }: ResearchReport, sources: Sources): string[] {
  const ofFigures = figures.map(({ value, about: { text, cites } }) => ({
    what: `the figure “${value}”`,
    numbers: findStated(value),
    cites,
    context: `${text} ${value}`,
  }));
  const ofBars = charts.flatMap(({ title, bars, cites }) =>
    bars.map(({ label, value, shown }) => {
      const written = findStated(shown).filter(({ text }) => /\d/.test(text));
      return {
        what: `“${shown}” for “${label}” in the chart “${title}”`,
        numbers: written.length > 0 ? written : [writeNumber(value)],
        cites,
        context: `${label} ${title}`,
      };
    }),
  );
  return [...ofFigures, ...ofBars].flatMap(({ what, numbers, cites, context }) => {
    const [missing] = findMissing(numbers, cites, sources);
    if (!missing) return [];
    const advice = advise(missing, { cites, context }, sources);
    return [`${what} does not stand in source ${cites.join(", ")}: ${advice}`];
  });
}

/** Nothing cannot be looked for: a source may say it without a number. */
function findMissing(
  numbers: readonly WrittenNumber[],
  cites: readonly number[],
  sources: Sources,
): WrittenNumber[] {
  if (!cites.some((number) => sources.has(number))) return [];
  return numbers.filter(
    (number) => !number.readings.includes("0") && sources.holding(number, cites).length === 0,
  );
}

function checkProse(report: ResearchReport, sources: Sources): NumberWarning[] {
  const warnings = listProse(report).flatMap(({ where, passages }) => {
    const around = listCites(passages);
    return listSentences(passages).flatMap(({ text, cites }) => {
      const own = [cites, around, sources.all].find((some) => some.length > 0) ?? [];
      const missing = findMissing(findQuantities(text), own, sources);
      return missing.map((number) => {
        const cited = own === sources.all ? "any source" : `source ${own.join(", ")}`;
        const advice = advise(number, { cites: own, context: text }, sources);
        return {
          number: number.text,
          where,
          text: `“${number.text}” in ${where} does not stand in ${cited}: ${advice}; a number that you computed may stay`,
        };
      });
    });
  });
  const drawn = report.charts.flatMap(({ title, bars, cites }) =>
    bars.flatMap(({ label, value, shown }): NumberWarning[] => {
      const number = writeNumber(value);
      const isShown = findNumbers(shown).some(({ readings }) => readings.includes(number.text));
      if (isShown || findMissing([number], cites, sources).length === 0) return [];
      const where = `the bar “${label}” of the chart “${title}”`;
      const text = `${where} is drawn as ${number.text}, but says “${shown}”: make value the number that is shown`;
      return [{ number: number.text, where, text }];
    }),
  );
  return [...warnings, ...drawn];
}

/** What would be accepted in place of a number that was not found. */
function advise(
  number: WrittenNumber,
  { cites, context }: { cites: readonly number[]; context: string },
  sources: Sources,
): string {
  const elsewhere = sources.holding(number, sources.all);
  if (elsewhere.length > 0)
    return `${number.text} stands in ${elsewhere.map((each) => `[${each}]`).join(", ")}, cite that, or take the number out`;
  return `write the number as the source has it${describeNearest(context, cites, sources)}, or take it out`;
}

function describeNearest(text: string, cites: readonly number[], sources: Sources): string {
  const nearest = sources.findNearest(text, cites);
  if (!nearest) return "";
  return ` (the nearest there: “${cutAt(nearest.sentence, MAX_NEAREST)}” [${nearest.number}])`;
}

type Prose = { where: string; passages: readonly Passage[] };

/** All running text of a report with the place where it is. */
function listProse({
  summary,
  themes,
  figures,
  charts,
  contradictions,
}: Pick<ResearchReport, "summary" | "themes" | "figures" | "charts" | "contradictions">): Prose[] {
  return [
    ...summary.map((passages, at) => ({ where: `point ${at + 1} of the summary`, passages })),
    ...themes.flatMap(({ heading, paragraphs }) =>
      paragraphs.map((passages, at) => ({ where: `paragraph ${at + 1} of “${heading}”`, passages })),
    ),
    ...figures.map(({ value, about }) => ({ where: `the figure “${value}”`, passages: [about] })),
    ...charts.flatMap(({ title, bars, cites }) => {
      const where = `the chart “${title}”`;
      const texts = [title, ...bars.map(({ label }) => label)];
      return texts.map((text) => ({ where, passages: [{ text, cites }] }));
    }),
    ...contradictions.flatMap(({ topic, claims }) =>
      claims.map((claim) => ({ where: `the contradiction “${topic}”`, passages: [claim] })),
    ),
  ];
}

/** The sentences of a text, each with all citations in it or right behind it. */
function listSentences(passages: readonly Passage[]): Passage[] {
  const sentences: { text: string; cites: number[] }[] = [];
  let open = { text: "", cites: [] as number[] };
  const close = () => {
    if (open.text !== "" || open.cites.length > 0) sentences.push(open);
    open = { text: "", cites: [] };
  };
  for (const { text, cites } of passages) {
    for (const [at, piece] of splitSentences(text).entries()) {
      if (at > 0) close();
      open.text = `${open.text} ${piece}`.trim();
    }
    open.cites = [...new Set([...open.cites, ...cites])];
    if (/[.!?…]["'”’»)\]]*$/.test(text)) close();
  }
  close();
  return sentences;
}

function listCites(passages: readonly Passage[]): number[] {
  return [...new Set(passages.flatMap(({ cites }) => cites))];
}

/**
 * Without differences that do not change the words: kinds of quotation marks, dashes and spaces, marks that are not seen,
 * references such as `[3]`, and the marks at the end.
 */
function bareWords(text: string): string {
  return inlineText(text)
    .normalize("NFKC")
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "")
    .replace(/\s*\[(?:(?:note )?\d+(?:\s*[,–-]\s*\d+)*|citation needed)\]/gi, "")
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/[‐‑–—]/g, "-")
    .replace(/[.,;!?]*"?$/, "")
    .toLowerCase();
}
