/** The number of letters to add, remove, change or swap to get from one text to the other, up to `most` + 1. */
export function measureDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const [one, other] = cutCommonEnds(a, b);
  // Each step corrects at most two letters in a row, so that long middles which differ at both ends are beyond one step.
  if (most === 1 && Math.min(one.length, other.length) > 2) return 2;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1];
      let cost = Math.min((last[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (same ? 0 : 1));
      if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
        cost = Math.min(cost, (before[at - 2] ?? 0) + 1);
      now.push(cost);
    }
    before = last;
    last = now;
  }
  return Math.min(last[other.length] ?? 0, most + 1);
}

/** Two texts without the beginning and the end that they share. */
function cutCommonEnds(one: string, other: string): [string, string] {
  const least = Math.min(one.length, other.length);
  let from = 0;
  while (from < least && one[from] === other[from]) from++;
  let end = 0;
  while (end < least - from && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return [one.slice(from, one.length - end), other.slice(from, other.length - end)];
}
