import { parseHTML } from "linkedom";
import { type DefaultTreeAdapterTypes as Html, parse, serialize, defaultTreeAdapter as tree } from "parse5";

/** The little of the DOM that extraction touches; the project does not load the browser's own types. */
export type DomElement = {
  readonly tagName: string;
  readonly children: Iterable<DomElement>;
  textContent: string;
  innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  closest(selector: string): DomElement | null;
  replaceWith(...nodes: readonly unknown[]): void;
  append(...nodes: readonly unknown[]): void;
  remove(): void;
  readonly childNodes: Iterable<unknown>;
};

/** A parsed page. */
export type DomDocument = Pick<DomElement, "querySelector" | "querySelectorAll"> & {
  readonly body: DomElement;
  createElement(name: string): DomElement;
};

/** Nothing a reader sees, or nothing that Markdown can hold; without them the page is a fraction of its size. */
const UNREAD = new Set([
  "style",
  "noscript",
  "template",
  "svg",
  "canvas",
  "iframe",
  "object",
  "embed",
  "audio",
  "video",
]);

/** A parsed page, and whether it had programs that a browser would have run. */
type ParsedPage = { document: DomDocument; hasScripts: boolean };

/** Parses a page as a browser does, however broken its markup, into a document that can be searched. */
export function parsePage(html: string): ParsedPage {
  const page = parse(html, { scriptingEnabled: false });
  const hasScripts = prune(page);
  const { document }: { document: DomDocument } = parseHTML(serialize(page));
  return { document, hasScripts };
}

/** Browsers stop at 512; deeper pages are made to break readers. */
const MAX_DEPTH = 1_000;

/** Takes out what nobody reads. Says whether there were programs. */
function prune(page: Html.Document): boolean {
  let hasScripts = false;
  const pending: { node: Html.ParentNode; depth: number }[] = [{ node: page, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next;
    if (depth > MAX_DEPTH) throw new RangeError("nested too deeply");
    for (const child of [...node.childNodes]) {
      const isScript = child.nodeName === "script";
      hasScripts ||= isScript;
      if (isScript ? !isLinkedData(child) : UNREAD.has(child.nodeName) || child.nodeName === "#comment")
        tree.detachNode(child);
      else if (tree.isElementNode(child)) pending.push({ node: child, depth: depth + 1 });
    }
  }
  return hasScripts;
}

function isLinkedData(node: Html.ChildNode): boolean {
  return (
    tree.isElementNode(node) &&
    node.attrs.some(({ name, value }) => name === "type" && /^application\/ld\+json/i.test(value.trim()))
  );
}
