import { createHash } from "node:crypto";
import { createCitations } from "./citations.ts";
import { escapeHtml } from "./escape.ts";
import { renderSections, type Section } from "./render-sections.ts";
import { countSources, type Report } from "./report.ts";
import { REPORT_STYLE } from "./report-style.ts";

const LONG_TITLE = 60;

/** A report as one HTML file that loads nothing, runs nothing, and may load nothing. */
export function renderHtml(report: Report): string {
  const { title, request, sources } = report;
  const sections = renderSections(report, createCitations(sources.length));
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

function renderMeta({ extractedAt, sources, unread, extractive }: Report): string {
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
  const day = escapeHtml(dayOf(moment));
  return Number.isNaN(Date.parse(moment))
    ? day
    : `<time datetime="${new Date(moment).toISOString()}">${day}</time>`;
}

function renderContents(sections: readonly Section[]): string {
  const entry = (id: string, title: string) => `<a href="#${id}">${escapeHtml(title)}</a>`;
  const items = sections.map(({ id, title, parts = [] }) => {
    const below = parts.map((part) => `<li>${entry(part.id, part.title)}</li>`).join("");
    return `<li>${entry(id, title)}${below && `<ol>${below}</ol>`}</li>`;
  });
  return `<nav class="contents" aria-labelledby="contents-heading"><h2 id="contents-heading">Contents</h2><ol>${items.join("")}</ol></nav>`;
}

/** What a report was made from and when it was read, without counting what nobody read. */
export function describeReading({ sources, extractedAt }: Report): string {
  const { read, supplied } = countSources(sources);
  return [read && `${read}, read on ${dayOf(extractedAt)}`, supplied].filter(Boolean).join(", and ");
}

/** A moment as people write its day; what is no moment stays as it is. */
export function dayOf(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  return date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}
