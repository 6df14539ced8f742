/** The smallest of the values that at least `percent` of a hundred do not exceed; `sorted` must rise and not be empty. */
export function percentile(sorted: readonly number[], percent: number): number {
  if (!(percent > 0 && percent <= 100)) throw new RangeError(`${percent} is not above 0 and up to 100`);
  // Whole percents times a count are exact, so that no rounding error moves the rank.
  const value = sorted[Math.ceil((percent * sorted.length) / 100) - 1];
  if (value === undefined) throw new RangeError("no percentile of nothing");
  return value;
}
