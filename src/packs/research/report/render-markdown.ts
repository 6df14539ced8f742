import { escapeMarkdown as plain } from "./escape.ts";
import { describeReading } from "./render-html.ts";
import { ALL_READ, NONE_READ } from "./render-sections.ts";
import {
  countSources,
  describePlace,
  linkOf,
  type Passage,
  type Report,
  type Source,
  SUPPLIED,
} from "./report.ts";

/** A report as Markdown, with its citations as links to the list of sources. */
export function renderMarkdown(report: Report): string {
  const { title, request, sources, extractive } = report;
  const note = extractive ? " Extractive: made by rules, without a model." : "";
  const parts = [
    `# ${plain(title)}`,
    ...(request ? [`*${plain(request)}*`] : []),
    `${plain(describeReading(report))}.${note}`,
    ...summaryAndFigures(report),
    ...report.themes.flatMap(({ heading, paragraphs }) => [
      `## ${plain(heading)}`,
      ...paragraphs.map(citedAll),
    ]),
    ...voices(report),
    "## Method and limits",
    ...report.method.map(plain),
    ...unread(report),
    "## Sources",
    sources.map(sourceLine).join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

function summaryAndFigures({ summary, figures, charts }: Report): string[] {
  return [
    ...(summary.length > 0
      ? ["## Executive summary", summary.map((point) => `- ${citedAll(point)}`).join("\n")]
      : []),
    ...(figures.length + charts.length > 0 ? ["## Key figures"] : []),
    ...(figures.length > 0
      ? [
          table(
            ["Figure", "Where it stands"],
            figures.map(({ value, about }) => [`**${plain(value)}**`, cited(about)]),
          ),
        ]
      : []),
    ...charts.flatMap(({ title, bars, cites }) => [
      `### ${plain(title)} ${marks(cites)}`,
      table(
        ["", "Value"],
        bars.map(({ label, shown }) => [plain(label), plain(shown)]),
      ),
    ]),
  ];
}

function voices({ quotes, contradictions }: Report): string[] {
  return [
    ...(quotes.length > 0 ? ["## In their words"] : []),
    ...quotes.map(
      ({ text, speaker, role, cites }) =>
        `> “${plain(text)}”\n>\n> ${plain([speaker, role].filter(Boolean).join(", "))} ${marks(cites)}`,
    ),
    ...(contradictions.length > 0 ? ["## Where sources differ"] : []),
    ...contradictions.flatMap(({ topic, note, claims }) => [
      `### ${plain(topic)}`,
      plain(note),
      claims.map((claim) => `- ${cited(claim)}`).join("\n"),
    ]),
  ];
}

function unread({ sources, unread: pages }: Report): string[] {
  if (pages.length === 0) return [countSources(sources).read ? ALL_READ : NONE_READ];
  return [
    `What could not be read (${pages.length}):`,
    pages
      .map(
        (page) =>
          `- ${plain(page.title === page.url ? describePlace(page) : page.title)}: ${plain(page.reason)}`,
      )
      .join("\n"),
  ];
}

function citedAll(passages: readonly Passage[]): string {
  return passages.map(cited).join(" ");
}

function cited({ text, cites, also = [] }: Passage): string {
  return `${plain(text)}${cites.length > 0 ? ` ${marks(cites)}` : ""}${also.length > 0 ? ` (similar: ${marks(also)})` : ""}`;
}

function marks(numbers: readonly number[]): string {
  return numbers.map((number) => `[[${number}]](#source-${number})`).join("");
}

function sourceLine(source: Source, at: number): string {
  const { title, url, author, date, supplied } = source;
  const link = linkOf(url);
  const name = link ? `[${plain(title)}](<${link}>)` : `${plain(title)} (${plain(describePlace(source))})`;
  const more = [author, date, supplied && SUPPLIED].filter((each) => each !== undefined).map(plain);
  return `${at + 1}. <a id="source-${at + 1}"></a>${[name, ...more].join(", ")}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
