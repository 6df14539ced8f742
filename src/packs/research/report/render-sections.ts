import type { Citations } from "./citations.ts";
import { drawChart } from "./draw-chart.ts";
import { escapeHtml } from "./escape.ts";
import {
  type Contradiction,
  countSources,
  describePlace,
  type KeyFigure,
  linkOf,
  type Passage,
  type Quotation,
  type Report,
  type Source,
  SUPPLIED,
  type Theme,
} from "./report.ts";

/** One part of the page: its anchor, what the table of contents calls it, and its HTML. */
export type Section = {
  readonly id: string;
  readonly title: string;
  readonly html: string;
  readonly parts?: readonly { readonly id: string; readonly title: string }[];
};

const LONG_VALUE = 12;

/** What stands in place of the list of pages that could not be read. */
export const ALL_READ = "Every page that was tried could be read.";
/** What stands there if no page was tried. */
export const NONE_READ = "No page was read by the host.";

/** The parts of a report that hold something, in reading order. */
export function renderSections(report: Report, citations: Citations): Section[] {
  const { summary, figures, charts, themes, quotes, contradictions } = report;
  const sections: (Section | null)[] = [
    summary.length > 0
      ? section("summary", "Executive summary", renderSummary(summary, citations), "summary")
      : null,
    figures.length + charts.length > 0
      ? section("figures", "Key figures", renderFigures(report, citations))
      : null,
    themes.length > 0 ? themesSection(themes, citations) : null,
    quotes.length > 0
      ? section("quotations", "In their words", renderQuotes(quotes, report, citations))
      : null,
    contradictions.length > 0
      ? section(
          "contradictions",
          "Where sources differ",
          renderContradictions(contradictions, report, citations),
        )
      : null,
    section("method", "Method and limits", renderMethod(report)),
  ];
  const filled = sections.filter((each) => each !== null);
  return [...filled, section("sources", "Sources", renderSources(report.sources, citations))];
}

function section(id: string, title: string, body: string, className = ""): Section {
  const html = `<section id="${id}" aria-labelledby="${id}-heading"${className && ` class="${className}"`}>\n<h2 id="${id}-heading">${escapeHtml(title)}</h2>\n${body}\n</section>`;
  return { id, title, html };
}

function passage({ text, cites, also = [] }: Passage, citations: Citations): string {
  const similar = citations.mention(also);
  return `${escapeHtml(text)}${citations.cite(cites)}${similar && ` <span class="also">(similar: ${similar})</span>`}`;
}

function passages(all: readonly Passage[], citations: Citations): string {
  return all.map((each) => passage(each, citations)).join(" ");
}

function renderSummary(summary: Report["summary"], citations: Citations): string {
  return `<ul>\n${summary.map((point) => `<li>${passages(point, citations)}</li>`).join("\n")}\n</ul>`;
}

function renderFigures({ figures, charts }: Report, citations: Citations): string {
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

function themesSection(themes: readonly Theme[], citations: Citations): Section {
  const parts = themes.map(({ heading }, at) => ({ id: `theme-${at + 1}`, title: heading }));
  const body = themes.map(({ heading, paragraphs }, at) => {
    const voices = new Set(paragraphs.flat().flatMap(({ cites }) => cites)).size;
    const texts = paragraphs.map((each) => `<p>${passages(each, citations)}</p>`);
    return [
      `<h3 id="theme-${at + 1}"><span class="number">${at + 1}</span>${escapeHtml(heading)}</h3>`,
      voices > 0 ? `<p class="count">From ${voices} ${voices === 1 ? "source" : "sources"}</p>` : "",
      ...texts,
    ]
      .filter(Boolean)
      .join("\n");
  });
  return { ...section("themes", "Themes across the sources", body.join("\n")), parts };
}

function renderQuotes(quotes: readonly Quotation[], { sources }: Report, citations: Citations): string {
  const blocks = quotes.map(({ text, speaker, role, cites }) => {
    const place = sources[(cites[0] ?? 0) - 1]?.title;
    const about = [role, place].filter((each) => each !== undefined).map(escapeHtml);
    return `<figure><blockquote><p>“${escapeHtml(text)}”</p></blockquote><p class="voice"><strong>${escapeHtml(speaker)}</strong>${about.map((each) => ` · ${each}`).join("")}${citations.cite(cites)}</p></figure>`;
  });
  return `<div class="quotes">\n${blocks.join("\n")}\n</div>`;
}

function renderContradictions(
  all: readonly Contradiction[],
  { sources }: Report,
  citations: Citations,
): string {
  return all
    .map(({ topic, note, claims }) => {
      const items = claims.map(({ text, cites }) => {
        const title = sources[(cites[0] ?? 0) - 1]?.title ?? "";
        return `<li>${escapeHtml(text)}${citations.cite(cites)}<span class="voice">${escapeHtml(title)}</span></li>`;
      });
      return `<article class="conflict"><h3>${escapeHtml(topic)}</h3>${note && `<p class="note">${escapeHtml(note)}</p>`}<ul class="claims">${items.join("")}</ul></article>`;
    })
    .join("\n");
}

function renderMethod({ method, sources, unread }: Report): string {
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
    const link = linkOf(url);
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
      words && `${words.toLocaleString("en")} words`,
      describePlace(source),
      supplied && SUPPLIED,
    ]
      .flatMap((each) => (each ? [escapeHtml(String(each))] : []))
      .concat(copy || []);
    return `<li id="source-${at + 1}"><span class="source-title">${name}</span><span class="source-more">${more.join(" · ")}</span>${citations.back(at + 1)}</li>`;
  });
  return `<ol class="sources">\n${items.join("\n")}\n</ol>`;
}
