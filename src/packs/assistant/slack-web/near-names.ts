/** Names that somebody may have meant, most alike first; none that share nothing with it. */
export function nearNames(wanted: string, names: Iterable<string>, count = 5): string[] {
  const pairs = pairsOf(wanted);
  return [...new Set(names)]
    .map((name) => ({ name, likeness: likeness(pairs, pairsOf(name)) }))
    .filter(({ likeness }) => likeness >= 0.3)
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

/** `; near: #a, #b`, or nothing. */
export function nearHint(wanted: string, names: Iterable<string>, mark: string): string {
  const near = nearNames(wanted, names);
  return near.length === 0 ? "" : `; near: ${near.map((name) => mark + name).join(", ")}`;
}

/** Text as it is compared: case and forms of letters do not count. */
export function folded(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase();
}

function pairsOf(text: string): ReadonlySet<string> {
  const letters = [...` ${folded(text).slice(0, 80)} `];
  return new Set(letters.slice(1).map((letter, index) => `${letters[index]}${letter}`));
}

/** Share of letter pairs that both have: 0 for none, 1 for all. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size);
}
