/** How many numbers of a sorted list are at most `value`. */
export function upperBound(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The numbers in their order. */
export function sortedTimes(times: Iterable<number>): Float64Array {
  return Float64Array.from(times).sort();
}
