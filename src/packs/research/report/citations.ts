/** Numbers in brackets that lead to the list of sources, and from there back to where they stand. */
export type Citations = {
  /** Links to sources, each with an address of its own. */
  cite(numbers: readonly number[]): string;
  /** Links to sources that need no way back. */
  mention(numbers: readonly number[]): string;
  /** Links from a source to the places that cite it. */
  back(number: number): string;
};

/** Counts the places that cite each of `count` sources; a number without a source is left out. */
export function createCitations(count: number): Citations {
  const uses = new Map<number, number>();
  const known = (numbers: readonly number[]) =>
    [...new Set(numbers)].filter((number) => Number.isInteger(number) && number >= 1 && number <= count);
  return {
    cite(numbers) {
      const links = known(numbers).map((number) => {
        const use = (uses.get(number) ?? 0) + 1;
        uses.set(number, use);
        return `<a id="cite-${number}-${use}" href="#source-${number}" aria-label="Source ${number}">[${number}]</a>`;
      });
      return links.length > 0 ? `<span class="cite">${links.join("")}</span>` : "";
    },
    mention: (numbers) =>
      known(numbers)
        .map((number) => `<a href="#source-${number}">[${number}]</a>`)
        .join(" "),
    back(number) {
      const total = uses.get(number) ?? 0;
      const links = Array.from({ length: total }, (_, at) => {
        const use = at + 1;
        return `<a href="#cite-${number}-${use}" aria-label="Back to citation ${use} of source ${number}">${total === 1 ? "↩" : use}</a>`;
      });
      return links.length > 0 ? `<span class="back">cited at ${links.join(" ")}</span>` : "";
    },
  };
}
