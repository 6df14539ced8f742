/** The normal quantile that leaves 2.5 % on each side. */
const Z = 1.959963984540054;

/** The 95 % Wilson score interval of a share: unlike the usual one it is honest about small counts and about 0 and 1. */
export function wilsonInterval(successes: number, n: number): { low: number; high: number } {
  if (!(n > 0) || !(successes >= 0) || successes > n) {
    throw new RangeError(`no share of ${successes} in ${n}`);
  }
  const rate = successes / n;
  const scale = 1 + Z ** 2 / n;
  const centre = (rate + Z ** 2 / (2 * n)) / scale;
  const margin = (Z / scale) * Math.sqrt((rate * (1 - rate)) / n + Z ** 2 / (4 * n ** 2));
  // Rounding must not leave a trace of doubt at the ends, where the formula is exact.
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - margin),
    high: successes === n ? 1 : Math.min(1, centre + margin),
  };
}
