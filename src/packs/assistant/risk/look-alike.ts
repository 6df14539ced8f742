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
export function lookAlikeWarning(domain: string, known: readonly string[]): string | null {
  if (known.includes(domain)) return null;
  const read = domainToUnicode(domain) || domain;
  const twin = known.find((each) => skeleton(each) === skeleton(read));
  const near = twin ?? known.find((each) => isNear(read, each));
  const written = read === domain ? "" : `written ${read}`;
  const like = near === undefined ? "" : `looks like ${near} but is another domain`;
  return [like, written].filter(Boolean).join("; ") || null;
}

/** The number of letters to add, remove, change or swap to get from one text to the other, up to `most` + 1. */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
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

/** What a hasty reader sees of a domain. */
function skeleton(domain: string): string {
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
function isNear(domain: string, known: string): boolean {
  if (domain.startsWith(`${known}.`) || domain.startsWith(`${known.replaceAll(".", "-")}.`)) return true;
  const [name = ""] = known.split(".");
  return name.length >= 4 && editDistance(skeleton(domain), skeleton(known), 1) === 1;
}
