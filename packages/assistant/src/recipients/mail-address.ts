// One mail address: reading it, showing it, and what it may be mistaken for.

import { domainToASCII, domainToUnicode } from "node:url";
import { measureDistance } from "@retinue/core/text/edit-distance";
import { cutAt } from "@retinue/core/tools/truncate";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { hasHiddenText, revealLine } from "../service-tools/tool-output.ts";

const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
const MAX_ADDRESS = 254;
/** With its display name. */
const MAX_WRITTEN = 1_000;
/** Characters of a name or an address that are shown. */
const MAX_SHOWN = 300;
/** Without `%` and `!`, which old servers take for a way through other servers. */
const LOCAL = /^[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** One address in angle brackets behind a name. */
const NAMED = /^(.*?)\s*<([^<>]*)>$/s;

/**
 * Reads exactly one mail address, alone or behind a display name, and gives it in the one form in which it is judged,
 * shown and sent: an ASCII local part and the domain in lower case and punycode. The display name is dropped: it says
 * nothing that can be relied upon.
 */
export function parseAddress(text: string): string {
  const wrong = findAddressFault(text);
  if (wrong !== null)
    throw new ToolFault(
      "params",
      `'${revealLine(text.slice(0, 200))}' is not an address to write to: ${wrong}`,
    );
  return writeCanonical(cutAddress(text));
}

/** Why a text is not exactly one usable address; null if it is. */
export function findAddressFault(text: string): string | null {
  if (text.length > MAX_WRITTEN) return `it is longer than ${MAX_WRITTEN} characters`;
  if (/[\r\n\t]/.test(text) || hasHiddenText(text)) return "it holds control or invisible characters";
  const named = NAMED.exec(text.trim());
  if (named) {
    const wrongName = findNameFault(named[1] ?? "");
    if (wrongName) return wrongName;
  }
  const bare = cutAddress(text);
  if (/[,;]/.test(bare)) return "it holds several addresses; give each as an entry of its own";
  const at = bare.lastIndexOf("@");
  if (at < 1) return "it has no name before an @";
  if (bare.indexOf("@") !== at) return "it has more than one @";
  return findLocalFault(bare.slice(0, at)) ?? findDomainFault(bare.slice(at + 1)) ?? findLengthFault(bare);
}

/** The part behind the @. */
export function readDomain(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Whether two canonical addresses are one mailbox for every server that matters. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** An address with a name, quoted if it must be; what comes with mails and events may hold anything, at any length. */
export function showAddress({
  name,
  address,
}: {
  readonly name?: string | undefined;
  readonly address: string;
}): string {
  const shown = revealLine(shorten(address));
  const clean = revealLine(shorten(name ?? "")).replaceAll(/["\\]/g, "");
  if (clean === "" || clean.toLowerCase() === shown.toLowerCase()) return shown;
  return /^[\p{L}\p{M}\p{N} .'’-]+$/u.test(clean) ? `${clean} <${shown}>` : `"${clean}" <${shown}>`;
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${cutAt(text, MAX_SHOWN)}…`;
}

/** A name that itself looks like an address is meant to be taken for it. */
function findNameFault(name: string): string | null {
  if (/[@＠﹫]/u.test(name)) return "its display name looks like another address";
  const quoted = /^"([^"]*)"$/.exec(name.trim());
  if (!quoted && /[,;:<>()"]/.test(name))
    return "it may hold several addresses; give each as an entry of its own";
  return null;
}

function cutAddress(text: string): string {
  const trimmed = text.trim();
  return (NAMED.exec(trimmed)?.[2] ?? trimmed).trim();
}

function findLocalFault(local: string): string | null {
  if (/[^ -~]/.test(local)) return "the part before the @ has characters outside ASCII";
  if (local.length > MAX_LOCAL) return `the part before the @ is longer than ${MAX_LOCAL} characters`;
  return LOCAL.test(local)
    ? null
    : "the part before the @ holds characters that mail servers read differently";
}

function findDomainFault(domain: string): string | null {
  if (domain.startsWith("[")) return "a server's number is not a domain";
  const ascii = toAsciiDomain(domain);
  if (ascii === "" || ascii.length > MAX_DOMAIN) return "its domain is not valid";
  const labels = ascii.split(".");
  if (!labels.every((label) => LABEL.test(label))) return "its domain is not valid";
  if (labels.length < 2 && ascii !== "localhost") return "its domain has no ending such as .com";
  return /^\d+$/.test(labels.at(-1) ?? "") ? "a server's number is not a domain" : null;
}

function findLengthFault(bare: string): string | null {
  return writeCanonical(bare).length > MAX_ADDRESS ? `it is longer than ${MAX_ADDRESS} characters` : null;
}

function writeCanonical(bare: string): string {
  const at = bare.lastIndexOf("@");
  return `${bare.slice(0, at)}@${toAsciiDomain(bare.slice(at + 1))}`;
}

/** Empty for a text that a URL parser would take for more than a domain. */
function toAsciiDomain(domain: string): string {
  const bare = domain.replace(/(?<!\.)\.$/, "");
  return /[\s%/\\:?#@<>()[\],;]/.test(bare) ? "" : domainToASCII(bare).toLowerCase();
}

/** Latin letters, each followed by the letters of other alphabets that look like it. */
const LOOK_ALIKES =
  "aаαɑ bЬьƅ cсϲ dԁɗ eеєεҽ fƒ gɡց hһհн iіιıɩ jјϳ kкκ lӏǀℓ mм nոηп oоοօσ pрρ qԛգ rгᴦ sѕꜱ tтτ uυսц vνѵ wԝѡω xхχ yуγү zᴢ";
const DRAWN_LIKE: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKES.split(" ").flatMap(([latin = "", ...others]) => others.map((other) => [other, latin])),
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
    .map((char) => DRAWN_LIKE.get(char) ?? char)
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
