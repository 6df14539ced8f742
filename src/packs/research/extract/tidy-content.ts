import type { DomDocument, DomElement } from "./dom.ts";

/** What to make of links and images. */
export type TidyOptions = { base: string; images: boolean };

/** Makes an article ready for Markdown: absolute links that lead to the web, images if wanted, lists of terms as text. */
export function tidyContent(content: DomElement, document: DomDocument, options: TidyOptions): void {
  for (const link of all(content, "a")) tidyLink(link, options.base);
  for (const image of all(content, "img")) tidyImage(image, options);
  for (const extra of all(content, "picture > source, button, input, select, textarea")) extra.remove();
  for (const term of all(content, "dt")) emphasise(term, document);
  for (const part of all(content, "dl, dd")) unwrapAsBlock(part, document);
}

/** Where relative addresses of the page start from. */
export function baseOf(document: DomDocument, url: string): string {
  const href = document.querySelector("base[href]")?.getAttribute("href");
  return (href && webAddress(href, url)) || url;
}

/** An absolute address on the web; undefined for scripts, data, files and what cannot be read. */
export function webAddress(text: string, base: string): string | undefined {
  const url = URL.parse(text, base);
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function tidyLink(link: DomElement, base: string): void {
  const href = link.getAttribute("href")?.trim() ?? "";
  const isMark = /^[\s¶#§🔗]*$/u.test(link.textContent) && link.querySelector("img") === null;
  const address = href.startsWith("#") ? undefined : webAddress(href, base);
  if (isMark) link.remove();
  else if (address) link.setAttribute("href", address);
  else link.replaceWith(...link.childNodes);
}

function tidyImage(image: DomElement, { base, images }: TidyOptions): void {
  const source = webAddress(image.getAttribute("src") ?? image.getAttribute("data-src") ?? "", base);
  if (images && source) image.setAttribute("src", source);
  else image.remove();
}

function emphasise(term: DomElement, document: DomDocument): void {
  const strong = document.createElement("strong");
  strong.append(...term.childNodes);
  const paragraph = document.createElement("p");
  paragraph.append(strong);
  term.replaceWith(paragraph);
}

function unwrapAsBlock(part: DomElement, document: DomDocument): void {
  const block = document.createElement("div");
  block.append(...part.childNodes);
  part.replaceWith(block);
}

function all(content: DomElement, selector: string): DomElement[] {
  return [...content.querySelectorAll(selector)];
}
