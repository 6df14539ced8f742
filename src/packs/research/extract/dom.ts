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
