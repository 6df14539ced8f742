import { domainToUnicode } from "node:url";

/** Letters of other alphabets that are drawn like Latin ones. */
const DRAWN_LIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["a", "аαɑ"],
    ["b", "Ььƅ"],
    ["c", "сϲ"],
    ["d", "ԁɗ"],
    ["e", "еєεҽ"],
    ["f", "ƒ"],
    ["g", "ɡց"],
    ["h", "һհн"],
    ["i", "іιıɩ"],
    ["j", "јϳ"],
    ["k", "кκ"],
    ["l", "ӏǀℓ"],
    ["m", "м"],
    ["n", "ոηп"],
    ["o", "оοօσ"],
    ["p", "рρ"],
    ["q", "ԛգ"],
    ["r", "гᴦ"],
    ["s", "ѕꜱ"],
    ["t", "тτ"],
    ["u", "υսц"],
    ["v", "νѵ"],
    ["w", "ԝѡω"],
    ["x", "хχ"],
    ["y", "уγү"],
    ["z", "ᴢ"],
  ].flatMap(([latin = "", others = ""]) => [...others].map((other) => [other, latin])),
);

/** Why a domain may be taken for another, with the known one it resembles; null if there is no such danger. */
export function warnOfLookAlike(domain: string, known: readonly string[]): string | null {
  if (known.includes(domain)) return null;
  const read = domainToUnicode(domain) || domain;
  const seen = drawSkeleton(read);
  const twin = known.find((each) => findSkeleton(each) === seen);
  const near = twin ?? known.find((each) => isNear(read, seen, each));
  const written = read === domain ? "" : `written ${read}`;
  const like = near === undefined ? "" : `looks like ${near} but is another domain`;
  return [like, written].filter(Boolean).join("; ") || null;
}

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

const skeletons = new Map<string, string>();

/** Every address is compared with every known domain, so that those are read once. */
function findSkeleton(domain: string): string {
  const made = skeletons.get(domain) ?? drawSkeleton(domain);
  if (skeletons.size > 20_000) skeletons.clear();
  skeletons.set(domain, made);
  return made;
}

/** What a hasty reader sees of a domain. */
function drawSkeleton(domain: string): string {
  return [...domain.normalize("NFKD").toLowerCase()]
    .filter((char) => !/\p{M}/u.test(char))
    .map((char) => DRAWN_LIKE[char] ?? char)
    .join("")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replaceAll("cl", "d")
    .replaceAll("0", "o")
    .replaceAll(/[1i|]/g, "l")
    .replaceAll("5", "s");
}

/** One letter off, or the known name put before another domain: `acme.com.evil.example`, `acme-com.example`. */
function isNear(domain: string, seen: string, known: string): boolean {
  if (domain.startsWith(`${known}.`) || domain.startsWith(`${known.replaceAll(".", "-")}.`)) return true;
  const [name = ""] = known.split(".");
  return name.length >= 4 && measureDistance(seen, findSkeleton(known), 1) === 1;
}
