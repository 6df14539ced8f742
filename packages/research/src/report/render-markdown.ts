import { escapeMarkdown as plain } from "@retinue/core/text/plain-text";
import { ALL_READ, describeReading, NONE_READ } from "./render-html.ts";
import {
  countSources,
  describePlace,
  findLink,
  type Passage,
  type ResearchReport,
  type Source,
  SUPPLIED,
} from "./report.ts";

/** A report as Markdown, with its citations as links to the list of sources. */
export function renderMarkdown(report: ResearchReport): string {
  const { title, request, sources, extractive } = report;
  const note = extractive ? " Extractive: made by rules, without a model." : "";
  const parts = [
    `# ${plain(title)}`,
    ...(request ? [`*${plain(request)}*`] : []),
    `${plain(describeReading(report))}.${note}`,
    ...renderSummaryAndFigures(report),
    ...report.themes.flatMap(({ heading, paragraphs }) => [
      `## ${plain(heading)}`,
      ...paragraphs.map(renderCitedAll),
    ]),
    ...renderVoices(report),
    "## Method and limits",
    ...report.method.map(plain),
    ...renderUnread(report),
    "## Sources",
    sources.map(renderSource).join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

function renderSummaryAndFigures({ summary, figures, charts }: ResearchReport): string[] {
  return [
    ...(summary.length > 0
      ? ["## Executive summary", summary.map((point) => `- ${renderCitedAll(point)}`).join("\n")]
      : []),
    ...(figures.length + charts.length > 0 ? ["## Key figures"] : []),
    ...(figures.length > 0
      ? [
          renderTable(
            ["Figure", "Where it stands"],
            figures.map(({ value, about }) => [`**${plain(value)}**`, renderCited(about)]),
          ),
        ]
      : []),
    ...charts.flatMap(({ title, bars, cites }) => [
      `### ${plain(title)} ${renderMarks(cites)}`,
      renderTable(
        ["", "Value"],
        bars.map(({ label, shown }) => [plain(label), plain(shown)]),
      ),
    ]),
  ];
}

function renderVoices({ quotes, contradictions }: ResearchReport): string[] {
  return [
    ...(quotes.length > 0 ? ["## In their words"] : []),
    ...quotes.map(
      ({ text, speaker, role, cites }) =>
        `> “${plain(text)}”\n>\n> ${plain([speaker, role].filter(Boolean).join(", "))} ${renderMarks(cites)}`,
    ),
    ...(contradictions.length > 0 ? ["## Where sources differ"] : []),
    ...contradictions.flatMap(({ topic, note, claims }) => [
      `### ${plain(topic)}`,
      plain(note),
      claims.map((claim) => `- ${renderCited(claim)}`).join("\n"),
    ]),
  ];
}

function renderUnread({ sources, unread: pages }: ResearchReport): string[] {
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

function renderCitedAll(passages: readonly Passage[]): string {
  return passages.map(renderCited).join(" ");
}

function renderCited({ text, cites, also = [] }: Passage): string {
  return `${plain(text)}${cites.length > 0 ? ` ${renderMarks(cites)}` : ""}${also.length > 0 ? ` (similar: ${renderMarks(also)})` : ""}`;
}

function renderMarks(numbers: readonly number[]): string {
  return numbers.map((number) => `[[${number}]](#source-${number})`).join("");
}

function renderSource(source: Source, at: number): string {
  const { title, url, author, date, supplied } = source;
  const link = findLink(url);
  const name = link ? `[${plain(title)}](<${link}>)` : `${plain(title)} (${plain(describePlace(source))})`;
  const more = [author, date, supplied && SUPPLIED].flatMap((each) => (each ? [plain(each)] : []));
  return `${at + 1}. <a id="source-${at + 1}"></a>${[name, ...more].join(", ")}`;
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
