/** People named in a phrase: those that a tool can look up, and words that are nobody for sure. */
type NamedPeople = { readonly who: readonly string[]; readonly unclear: readonly string[] };

/** Source of a pattern for a mail address. */
export const ADDRESS = "[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\\.)+[A-Za-z]{2,}";

const WHOLE_ADDRESS = new RegExp(`^<?(${ADDRESS})>?$`);
const NAMED_ADDRESS = new RegExp(`^[\\p{L}\\p{M} .'’-]+<(${ADDRESS})>$`, "u");
const NAME = /^\p{Lu}[\p{L}\p{M}'’-]*\.?(?: (?:\p{Lu}[\p{L}\p{M}'’-]*\.?|van|von|de|der|la|bin|al)){0,3}$/u;
const GROUP = /^(?:the |my |our )?((?:[\p{L}-]+ )?team)$/iu;
const PLAIN_NAME = /^\p{Ll}{2,20}$/u;
/** Words in lower case that stand where a name could, and are none. */
const NO_NAME = new Set(
  `him her them they it me us you someone somebody anyone anybody everyone everybody all people folks client clients customer
  customers boss manager colleague colleagues company staff management hr legal sales support marketing finance press office
  group list department friend friends family others this that these those update updates note notes mail email message up
  back out off down over a an the my our your his their new same whole few some any both either none nobody everything`.split(
    /\s+/,
  ),
);
/** Words in upper case that begin sentences or name things. */
const NO_PROPER =
  /^(?:I|I'm|The|This|That|Slack|Google|Gmail|Zoom|Teams|Meet|Email|Mail|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Corp|Inc|Everyone|All|Him|Her|Them|It|You|.*\b(?:Corp|Inc|Ltd|GmbH|LLC|Partners|Company|Group))\.?$/i;

/** Splits a list of people. Lower-case words count as names only where `loose` says that nothing else can stand there. */
export function findPeople(phrase: string, loose = false): NamedPeople {
  const who: string[] = [];
  const unclear: string[] = [];
  const parts = phrase
    .split(/\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s*&\s*/)
    .map((part) => part.trim().replace(/[.?!]+$/, ""))
    .filter(Boolean);
  // Beside names in upper case, a word in lower case is something else.
  const isLower = loose && parts.every((part) => !/^\p{Lu}/u.test(part));
  for (const part of parts) {
    const one = findPerson(part, isLower);
    if (one) who.push(one);
    else unclear.push(part);
  }
  return { who: [...new Set(who)], unclear };
}

function findPerson(part: string, loose: boolean): string | undefined {
  const address = WHOLE_ADDRESS.exec(part)?.[1] ?? NAMED_ADDRESS.exec(part)?.[1];
  if (address) return address;
  const group = GROUP.exec(part)?.[1];
  if (group) return group.toLowerCase();
  if (NAME.test(part)) return NO_PROPER.test(part) ? undefined : part;
  return loose && PLAIN_NAME.test(part) && !NO_NAME.has(part) ? part : undefined;
}

/** All mail addresses of a text. */
export function findAddresses(text: string): string[] {
  return [...text.matchAll(new RegExp(ADDRESS, "g"))].map(([address]) => address);
}

/** Something with an `@` in the middle that is no whole address. */
export function findBrokenAddress(text: string): string | undefined {
  const rest = text.replace(new RegExp(`(?<![\\w@])${ADDRESS}(?![\\w@])`, "g"), " ");
  return /[^\s@,;:]+@[^\s,;:]*/.exec(rest)?.[0];
}
