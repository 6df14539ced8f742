/** Who last changed a line. */
export type Blamed = { at: number; commit: string; author: string; date: string; committed: boolean };

const LINE =
  /^\^?([0-9a-f]{4,64}) (?:[^\s(]\S* +)?\((.+?) +(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) [+-]\d{4} +(\d+)\)/gm;

/** The line that was changed last among those that `git blame` lists; what is not committed yet is the latest. */
export function lastBlamed(text: string): Blamed | undefined {
  const all = [...text.matchAll(LINE)].map(([, commit = "", author = "", day = "", time = "", at]) => ({
    at: Number(at),
    commit,
    author,
    date: day,
    when: `${day} ${time}`,
    committed: !/^0+$/.test(commit),
  }));
  const [latest] = all.toSorted(
    (a, b) =>
      Number(a.committed) - Number(b.committed) || (a.when < b.when ? 1 : a.when > b.when ? -1 : a.at - b.at),
  );
  if (!latest) return undefined;
  const { when: _, ...blamed } = latest;
  return blamed;
}
