import { escapeHtml } from "./escape.ts";
import type { Chart } from "./report.ts";

const WIDTH = 360;
const ROW = 42;
const BAR = 14;
const LABEL_CHARS = 50;
/** Room for the numbers at the right edge. */
const NUMBER_WIDTH = 84;

/** A bar chart as one SVG that names itself to those who cannot see it; colours come from the page's style. */
export function drawChart({ title, bars }: Chart, id: string): string {
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
