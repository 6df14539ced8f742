/** A file before and after; null if it is new. */
export type Change = { name: string; before: string | null; after: string };

/** Texts that differ in more lines than this share nothing worth looking for. */
const MOST_EDITS = 4_000;

/** What differs, in unified form; empty if nothing does. */
export async function unifiedDiff({ name, before, after }: Change): Promise<string> {
  if (before === after) return "";
  const { createTwoFilesPatch } = await import("diff");
  const from = before === null ? "/dev/null" : name;
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const patch = createTwoFilesPatch(from, name, before ?? "", after, "", "", options);
  return patch?.replace(/^(?:Index: .*\n)?=+\n/, "") ?? replacedWhole(from, name, before ?? "", after);
}

function replacedWhole(from: string, to: string, before: string, after: string): string {
  const old = linesOf(before);
  const fresh = linesOf(after);
  return [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -${old.length > 0 ? 1 : 0},${old.length} +${fresh.length > 0 ? 1 : 0},${fresh.length} @@`,
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
    "",
  ].join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
