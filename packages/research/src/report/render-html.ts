import { createHash } from "node:crypto";
import { showCount, showNumber } from "@retinue/core/show/measures";
import { escapeHtml } from "@retinue/core/text/plain-text";
import {
  countSources,
  describePlace,
  findLink,
  type KeyFigure,
  type Passage,
  type ReportChart,
  type ResearchReport,
  type Source,
  SUPPLIED,
  type Theme,
} from "./report.ts";
import { REPORT_STYLE } from "./report-style.ts";

const LONG_TITLE = 60;

/** A report as one HTML file that loads nothing, runs nothing, and may load nothing. */
export function renderHtml(report: ResearchReport): string {
  const { title, request, sources } = report;
  const sections = renderSections(report, new Citations(sources.length));
  const hash = createHash("sha256").update(REPORT_STYLE).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Retinue">
<title>${escapeHtml(title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the report</a>
<div class="page">
<header class="top">
<p class="kicker">Research report</p>
<h1${title.length > LONG_TITLE ? ' class="long"' : ""}>${escapeHtml(title)}</h1>
${request ? `<p class="request">${escapeHtml(request)}</p>` : ""}
${renderMeta(report)}
</header>
<div class="columns">
${renderContents(sections)}
<main id="content">
${sections.map(({ html }) => html).join("\n")}
</main>
</div>
<footer>Made with Retinue from ${escapeHtml(describeReading(report))}.</footer>
</div>
</body>
</html>
`;
}

function renderMeta({ extractedAt, sources, unread, extractive }: ResearchReport): string {
  const { read, supplied } = countSources(sources);
  const items = [
    `Sources ${read ? "read" : "gathered"} on <strong>${renderDay(extractedAt)}</strong>`,
    ...[read, supplied].filter(Boolean).map((count) => count.replace(/^\d+/, "<strong>$&</strong>")),
    ...(unread.length > 0 ? [`<strong>${unread.length}</strong> could not be read`] : []),
    ...(extractive ? ['<span class="chip">Extractive: made by rules, no model</span>'] : []),
  ];
  return `<ul class="meta">${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
}

function renderDay(moment: string): string {
  const day = escapeHtml(formatDay(moment));
  return Number.isNaN(Date.parse(moment))
    ? day
    : `<time datetime="${new Date(moment).toISOString()}">${day}</time>`;
}

function renderContents(sections: readonly ReportSection[]): string {
  const entry = (id: string, title: string) => `<a href="#${id}">${escapeHtml(title)}</a>`;
  const items = sections.map(({ id, title, parts = [] }) => {
    const below = parts.map((part) => `<li>${entry(part.id, part.title)}</li>`).join("");
    return `<li>${entry(id, title)}${below && `<ol>${below}</ol>`}</li>`;
  });
  return `<nav class="contents" aria-labelledby="contents-heading"><h2 id="contents-heading">Contents</h2><ol>${items.join("")}</ol></nav>`;
}

/** What a report was made from and when it was read, without counting what nobody read. */
export function describeReading({ sources, extractedAt }: ResearchReport): string {
  const { read, supplied } = countSources(sources);
  return [read && `${read}, read on ${formatDay(extractedAt)}`, supplied].filter(Boolean).join(", and ");
}

/** A moment as people write its day; what is no moment stays as it is. */
function formatDay(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  return date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

/** One part of the page: its anchor, what the table of contents calls it, and its HTML. */
type ReportSection = {
  readonly id: string;
  readonly title: string;
  readonly html: string;
  readonly parts?: readonly { readonly id: string; readonly title: string }[];
};

const LONG_VALUE = 12;

/** The text in place of the list of pages that could not be read. */
export const ALL_READ = "Every page that was tried could be read.";
/** The text there if no page was tried. */
export const NONE_READ = "No page was read by the host.";

/** The parts of a report that hold something, in reading order. */
function renderSections(report: ResearchReport, citations: Citations): ReportSection[] {
  const { summary, figures, charts, themes, quotes, contradictions } = report;
  const sections = [
    summary.length > 0 &&
      renderSection("summary", "Executive summary", renderSummary(summary, citations), "summary"),
    figures.length + charts.length > 0 &&
      renderSection("figures", "Key figures", renderFigures(report, citations)),
    themes.length > 0 && renderThemes(themes, citations),
    quotes.length > 0 && renderSection("quotations", "In their words", renderQuotes(report, citations)),
    contradictions.length > 0 &&
      renderSection("contradictions", "Where sources differ", renderContradictions(report, citations)),
    renderSection("method", "Method and limits", renderMethod(report)),
    // The last, because it says where each source was cited.
    renderSection("sources", "Sources", renderSources(report.sources, citations)),
  ];
  return sections.filter((each) => each !== false);
}

function renderSection(id: string, title: string, body: string, className = ""): ReportSection {
  const html = `<section id="${id}" aria-labelledby="${id}-heading"${className && ` class="${className}"`}>\n<h2 id="${id}-heading">${escapeHtml(title)}</h2>\n${body}\n</section>`;
  return { id, title, html };
}

function renderPassage({ text, cites, also = [] }: Passage, citations: Citations): string {
  const similar = citations.mention(also);
  return `${escapeHtml(text)}${citations.cite(cites)}${similar && ` <span class="also">(similar: ${similar})</span>`}`;
}

function renderPassages(all: readonly Passage[], citations: Citations): string {
  return all.map((each) => renderPassage(each, citations)).join(" ");
}

function renderSummary(summary: ResearchReport["summary"], citations: Citations): string {
  return `<ul>\n${summary.map((point) => `<li>${renderPassages(point, citations)}</li>`).join("\n")}\n</ul>`;
}

function renderFigures({ figures, charts }: ResearchReport, citations: Citations): string {
  const cards = figures
    .map((figure) => `<li class="card">${renderFigure(figure, citations)}</li>`)
    .join("\n");
  const drawn = charts.map(
    (chart, at) =>
      `<figure><figcaption>${escapeHtml(chart.title)}${citations.cite(chart.cites)}</figcaption>${drawChart(chart, `chart-${at + 1}`)}</figure>`,
  );
  return [
    cards && `<ul class="cards">\n${cards}\n</ul>`,
    drawn.length > 0 ? `<div class="charts">\n${drawn.join("\n")}\n</div>` : "",
  ].join("\n");
}

function renderFigure({ value, about }: KeyFigure, citations: Citations): string {
  const at = about.text.indexOf(value);
  const text =
    at < 0
      ? escapeHtml(about.text)
      : `${escapeHtml(about.text.slice(0, at))}<mark>${escapeHtml(value)}</mark>${escapeHtml(about.text.slice(at + value.length))}`;
  const size = value.length > LONG_VALUE ? "value long" : "value";
  return `<p class="${size}">${escapeHtml(value)}</p><p>${text}${citations.cite(about.cites)}</p>`;
}

function renderThemes(themes: readonly Theme[], citations: Citations): ReportSection {
  const parts = themes.map(({ heading }, at) => ({ id: `theme-${at + 1}`, title: heading }));
  const body = themes.map(({ heading, paragraphs }, at) => {
    const voices = new Set(paragraphs.flat().flatMap(({ cites }) => cites)).size;
    const texts = paragraphs.map((each) => `<p>${renderPassages(each, citations)}</p>`);
    return [
      `<h3 id="theme-${at + 1}"><span class="number">${at + 1}</span>${escapeHtml(heading)}</h3>`,
      voices > 0 ? `<p class="count">From ${showCount(voices, "source")}</p>` : "",
      ...texts,
    ]
      .filter(Boolean)
      .join("\n");
  });
  return { ...renderSection("themes", "Themes across the sources", body.join("\n")), parts };
}

function renderQuotes({ quotes, sources }: ResearchReport, citations: Citations): string {
  const blocks = quotes.map(({ text, speaker, role, cites }) => {
    const place = sources[(cites[0] ?? 0) - 1]?.title;
    const about = [role, place].filter((each) => each !== undefined).map(escapeHtml);
    return `<figure><blockquote><p>“${escapeHtml(text)}”</p></blockquote><p class="voice"><strong>${escapeHtml(speaker)}</strong>${about.map((each) => ` · ${each}`).join("")}${citations.cite(cites)}</p></figure>`;
  });
  return `<div class="quotes">\n${blocks.join("\n")}\n</div>`;
}

function renderContradictions({ contradictions, sources }: ResearchReport, citations: Citations): string {
  return contradictions
    .map(({ topic, note, claims }) => {
      const items = claims.map(({ text, cites }) => {
        const title = sources[(cites[0] ?? 0) - 1]?.title ?? "";
        return `<li>${escapeHtml(text)}${citations.cite(cites)}<span class="voice">${escapeHtml(title)}</span></li>`;
      });
      return `<article class="conflict"><h3>${escapeHtml(topic)}</h3>${note && `<p class="note">${escapeHtml(note)}</p>`}<ul class="claims">${items.join("")}</ul></article>`;
    })
    .join("\n");
}

function renderMethod({ method, sources, unread }: ResearchReport): string {
  const notes = method.map((text) => `<p>${escapeHtml(text)}</p>`).join("\n");
  const rows = unread.map((page) => {
    const place = describePlace(page);
    const name = page.title === page.url ? place : `${page.title} (${place})`;
    return `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(page.reason)}</td></tr>`;
  });
  const table =
    rows.length > 0
      ? `<div class="scroll"><table><caption>What could not be read (${rows.length})</caption><thead><tr><th scope="col">Page</th><th scope="col">Why</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`
      : `<p>${countSources(sources).read ? ALL_READ : NONE_READ}</p>`;
  return `<div class="method">\n${notes}\n${table}\n</div>`;
}

function renderSources(sources: readonly Source[], citations: Citations): string {
  const items = sources.map((source, at) => {
    const { title, url, author, date, words, file, supplied } = source;
    const link = findLink(url);
    const name = link
      ? `<a href="${escapeHtml(link)}" rel="noopener noreferrer nofollow">${escapeHtml(title)}</a>`
      : escapeHtml(title);
    const copy =
      file && /^search_results\/[\w.-]+$/.test(file)
        ? `<a href="../${escapeHtml(file)}">text as read</a>`
        : "";
    const more = [
      author,
      date,
      words && `${showNumber(words)} words`,
      describePlace(source),
      supplied && SUPPLIED,
    ]
      .flatMap((each) => (each ? [escapeHtml(String(each))] : []))
      .concat(copy || []);
    return `<li id="source-${at + 1}"><span class="source-title">${name}</span><span class="source-more">${more.join(" · ")}</span>${citations.back(at + 1)}</li>`;
  });
  return `<ol class="sources">\n${items.join("\n")}\n</ol>`;
}

/** Numbers in brackets that lead to the list of sources, and from there back to where they stand. */
class Citations {
  readonly #count: number;
  readonly #uses = new Map<number, number>();

  /** For so many sources; a number without a source is left out. */
  constructor(count: number) {
    this.#count = count;
  }

  /** Links to sources, each with an address of its own. */
  cite(numbers: readonly number[]): string {
    const links = this.#known(numbers).map((number) => {
      const use = (this.#uses.get(number) ?? 0) + 1;
      this.#uses.set(number, use);
      return `<a id="cite-${number}-${use}" href="#source-${number}" aria-label="Source ${number}">[${number}]</a>`;
    });
    return links.length > 0 ? `<span class="cite">${links.join("")}</span>` : "";
  }

  /** Links to sources that need no way back. */
  mention(numbers: readonly number[]): string {
    return this.#known(numbers)
      .map((number) => `<a href="#source-${number}">[${number}]</a>`)
      .join(" ");
  }

  /** Links from a source to the places that cite it. */
  back(number: number): string {
    const total = this.#uses.get(number) ?? 0;
    const links = Array.from({ length: total }, (_, at) => {
      const use = at + 1;
      return `<a href="#cite-${number}-${use}" aria-label="Back to citation ${use} of source ${number}">${total === 1 ? "↩" : use}</a>`;
    });
    return links.length > 0 ? `<span class="back">cited at ${links.join(" ")}</span>` : "";
  }

  #known(numbers: readonly number[]): number[] {
    return [...new Set(numbers)].filter(
      (number) => Number.isInteger(number) && number >= 1 && number <= this.#count,
    );
  }
}

const WIDTH = 360;
const ROW = 42;
const BAR = 14;
const LABEL_CHARS = 50;
/** Room for the numbers at the right edge. */
const NUMBER_WIDTH = 84;

/** A bar chart as one SVG that names itself to those who cannot see it; colours come from the page's style. */
function drawChart({ title, bars }: ReportChart, id: string): string {
  const most = bars.reduce((highest, { value }) => Math.max(highest, value), 0) || 1;
  const height = bars.length * ROW + 4;
  const rows = bars.map(({ label, value, shown }, at) => {
    const top = at * ROW;
    const length = Math.max(2, Math.round(((WIDTH - NUMBER_WIDTH) * value) / most));
    const short = label.length > LABEL_CHARS ? `${label.slice(0, LABEL_CHARS - 1)}…` : label;
    return [
      `<text class="bar-label" x="0" y="${top + 14}">${escapeHtml(short)}</text>`,
      `<rect class="bar-rail" x="0" y="${top + 21}" width="${WIDTH - NUMBER_WIDTH}" height="${BAR}" rx="3"></rect>`,
      `<rect class="bar" x="0" y="${top + 21}" width="${length}" height="${BAR}" rx="3"></rect>`,
      `<text class="bar-value" x="${WIDTH}" y="${top + 33}" text-anchor="end">${escapeHtml(shown)}</text>`,
    ].join("");
  });
  const spoken = bars.map(({ label, shown }) => `${label}: ${shown}`).join("; ");
  return `<svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">${escapeHtml(title)}</title><desc id="${id}-desc">${escapeHtml(spoken)}</desc>${rows.join("")}</svg>`;
}
