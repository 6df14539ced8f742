/** What is between two figures, in signs: `+2.1k (+38 %)`. What is unknown on one side has no difference. */
export function differenceOf(
  a: number | null,
  b: number | null,
  show: (value: number) => string = plain,
): string {
  if (a === null || b === null) return "unknown";
  if (a === b) return SAME;
  const sign = signOf(b - a);
  const share = shareOf(a, b);
  return `${sign}${show(Math.abs(b - a))}${share && ` (${share})`}`;
}

/** Nothing is between the two. */
export const SAME = "same";

/** From nothing to something there is no share, and a share of many thousand percent says less than how many times it is. */
function shareOf(a: number, b: number): string {
  if (a <= 0) return "";
  const percent = Math.round((Math.abs(b - a) / a) * 100);
  if (percent >= 1_000) return `×${Math.round(b / a).toLocaleString("en-US")}`;
  return percent === 0 ? "under 1 %" : `${signOf(b - a)}${percent} %`;
}

function signOf(difference: number): string {
  return difference > 0 ? "+" : "−";
}

/** A count as it is. */
export function plain(value: number): string {
  return value.toLocaleString("en-US");
}
