/** What a server says of the length that a reply may have: the most tokens it names, or null if it names no number. */
export type OutputComplaint = { readonly most: number | null };

const SPEAKS_OF_OUTPUT =
  /max_(?:completion_|output_|new_)?tokens|maxOutputTokens|max(?:imum)?[ _-](?:output[ _-]|completion[ _-]|new[ _-])?tokens|(?:output|completion) tokens/i;
const REFUSES =
  /too (?:large|big|high|many)|at most|maximum|exceed|less than|lower than|up to|range|limit|<=|>|invalid/i;
/** Prompt and reply together are too long, for which a shorter prompt is the remedy. */
const SPEAKS_OF_CONTEXT = /context (?:length|limit|size)/i;
const NUMBER = String.raw`\D{0,3}?([\d][\d,_]*)`;
/** How servers name the most they take. The last of a range may be one too many. */
const NAMES_MOST: readonly (readonly [says: RegExp, more: number])[] = [
  [/range[^.]{0,60}? to ([\d,_]+) \(exclusive\)/i, -1],
  [/range[^.]{0,60}? to ([\d,_]+)/i, 0],
  [/range[^.]{0,60}?[[(]\s*\d+\s*,\s*([\d,_]+)\s*\]/i, 0],
  [/range[^.]{0,60}?[[(]\s*\d+\s*,\s*([\d,_]+)\s*\)/i, -1],
  [
    new RegExp(
      `(?:at most|no more than|not exceed|up to|less than or equal to|<=|limit of|limit is)${NUMBER}`,
      "i",
    ),
    0,
  ],
  [new RegExp(`(?:less than|lower than|below)${NUMBER}`, "i"), -1],
  [/\d\s*>\s*([\d,_]+)/, 0],
  [/maxim(?:um|al)[^.\d]{0,80}?([\d][\d,_]*)/i, 0],
];

/** Reads a refusal of a request because its reply could become too long; null if it says something else. */
export function readOutputComplaint(message: string): OutputComplaint | null {
  if (!SPEAKS_OF_OUTPUT.test(message) || !REFUSES.test(message) || SPEAKS_OF_CONTEXT.test(message))
    return null;
  for (const [says, more] of NAMES_MOST) {
    const [, number] = says.exec(message) ?? [];
    const most = Number(number?.replace(/[,_]/g, "")) + more;
    if (Number.isSafeInteger(most) && most > 0) return { most };
  }
  return { most: null };
}
