import { escapeMarkdown as plain } from "./escape.ts";
import { dayOf } from "./render-html.ts";
import { linkOf, type Passage, placeOf, type Report, type Source } from "./report.ts";

/** A report as Markdown, with its citations as links to the list of sources. */
export function renderMarkdown(report: Report): string {
  const { title, request, sources, extractive } = report;
  const count = `${sources.length} ${sources.length === 1 ? "source" : "sources"}`;
  const note = extractive ? " Extractive: made by rules, without a model." : "";
  const parts = [
    `# ${plain(title)}`,
    ...(request ? [`*${plain(request)}*`] : []),
    `${count}, read on ${dayOf(report.extractedAt)}.${note}`,
    ...summaryAndFigures(report),
    ...report.themes.flatMap(({ heading, paragraphs }) => [
      `## ${plain(heading)}`,
      ...paragraphs.map((paragraph) => paragraph.map(cited).join(" ")),
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
      ? ["## Executive summary", summary.map((each) => `- ${cited(each)}`).join("\n")]
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

function unread({ unread: pages }: Report): string[] {
  if (pages.length === 0) return ["Every page that was tried could be read."];
  return [
    `What could not be read (${pages.length}):`,
    pages
      .map(({ url, title, reason }) => `- ${plain(title === url ? placeOf(url) : title)}: ${plain(reason)}`)
      .join("\n"),
  ];
}

function cited({ text, cites, also = [] }: Passage): string {
  return `${plain(text)}${cites.length > 0 ? ` ${marks(cites)}` : ""}${also.length > 0 ? ` (similar: ${marks(also)})` : ""}`;
}

function marks(numbers: readonly number[]): string {
  return numbers.map((number) => `[[${number}]](#source-${number})`).join("");
}

function sourceLine({ title, url, author, date }: Source, at: number): string {
  const link = linkOf(url);
  const name = link ? `[${plain(title)}](<${link}>)` : `${plain(title)} (${plain(placeOf(url))})`;
  const more = [author, date].filter((each) => each !== undefined).map(plain);
  return `${at + 1}. <a id="source-${at + 1}"></a>${[name, ...more].join(", ")}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
