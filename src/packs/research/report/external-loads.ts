import type { DefaultTreeAdapterTypes } from "parse5";

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Attributes from which a browser loads something, or goes somewhere, by itself. */
const LOADING = new Set([
  "src",
  "srcset",
  "poster",
  "background",
  "data",
  "codebase",
  "archive",
  "manifest",
  "ping",
]);
/** Elements that have no place in a page that only shows something. */
const REFUSED = new Set([
  "script",
  "iframe",
  "frame",
  "object",
  "embed",
  "applet",
  "base",
  "portal",
  "fencedframe",
]);
/** Attributes that hold a style: SVG has many of its own, and its animations put another in their place. */
const STYLED =
  /^(?:style|fill|stroke|filter|mask|clip-path|cursor|marker(?:-start|-mid|-end)?|to|from|by|values)$/;
const MAX_LISTED = 20;
const MAX_SHOWN = 120;

/** What an HTML page would load or run, a line each; empty if it stands on its own. */
export async function externalLoads(html: string): Promise<string[]> {
  const { parse } = await import("parse5");
  const found = new Set<string>();
  // Where scripts are off, as in a sandboxed frame, what is in <noscript> counts.
  const open: Node[] = [parse(html, { scriptingEnabled: false })];
  for (let node = open.pop(); node !== undefined && found.size < MAX_LISTED; node = open.pop()) {
    if ("tagName" in node) for (const fault of faultsOf(node)) found.add(fault.slice(0, MAX_SHOWN));
    if ("content" in node) open.push(node.content);
    if ("childNodes" in node) open.push(...node.childNodes.toReversed());
  }
  return [...found];
}

function faultsOf(element: Element): string[] {
  const { tagName, attrs } = element;
  if (REFUSED.has(tagName)) return [`<${tagName}>`];
  const named = new Map(attrs.map(({ name, value }) => [name.toLowerCase(), value]));
  const faults = attrs.flatMap(({ name, value }) => faultOfAttribute(tagName, name.toLowerCase(), value));
  if (tagName === "link")
    faults.push(`<link rel="${named.get("rel") ?? ""}" href="${named.get("href") ?? ""}">`);
  if (tagName === "meta" && /refresh/i.test(named.get("http-equiv") ?? ""))
    faults.push("<meta http-equiv=refresh>");
  if (tagName === "style") faults.push(...loadsInStyle(textOf(element)).map((each) => `<style>: ${each}`));
  return faults;
}

function faultOfAttribute(tag: string, name: string, value: string): string[] {
  const shown = `<${tag} ${name}="${value}">`;
  if (name.startsWith("on")) return [`<${tag} ${name}=…>`];
  if (STYLED.test(name)) return loadsInStyle(value).map((each) => `<${tag} ${name}>: ${each}`);
  if (name === "attributename" && /href|^src|^on/i.test(value.trim())) return [shown];
  const address = value.replace(/[\p{Cc}\s]/gu, "");
  if (/href$|^src$|action$|^data$/.test(name) && /^(?:javascript|vbscript):/i.test(address)) return [shown];
  const isLoaded =
    LOADING.has(name) || (/href$/.test(name) && tag !== "a" && tag !== "area" && tag !== "link");
  if (name === "action" || name === "formaction") return [shown];
  return isLoaded && !isOwn(address) ? [shown] : [];
}

/** Something that is in the page already. */
function isOwn(address: string): boolean {
  return address === "" || address.startsWith("#") || /^data:(?:image\/(?!svg)|font\/)/i.test(address);
}

function loadsInStyle(style: string): string[] {
  // Comments stay: what looks like one may stand in a string, and within a name none is allowed.
  const plain = style.replace(
    /\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi,
    (_, code: string | undefined, character = "") =>
      code === undefined ? character : characterOf(Number.parseInt(code, 16)),
  );
  const faults = [...plain.matchAll(/url\(\s*["']?([^"')]{0,500})/gi)]
    .map(([, address = ""]) => address.trim())
    .filter((address) => !isOwn(address))
    .map((address) => `url(${address})`);
  if (/@import/i.test(plain)) faults.push("@import");
  // These take an address as a bare string.
  const [taker] = /\b(?:image-set|image|src)(?=\()/i.exec(plain) ?? [];
  if (taker) faults.push(`${taker.toLowerCase()}()`);
  return faults;
}

function characterOf(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}

function textOf({ childNodes }: Element): string {
  return childNodes.map((node) => ("value" in node ? node.value : "")).join("");
}
