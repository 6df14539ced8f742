/**
 * Makes an element. Text is always a text node and classes are ours, so that nothing of a trace becomes markup.
 * @param {string} tag
 * @param {string} className
 * @param {...(Node | string)} children
 */
export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Sets several attributes; undefined leaves one out. */
export function mark(element, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, String(value));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  completed: "M3.5 8.5l3 3 6-7",
  ok: "M3.5 8.5l3 3 6-7",
  cached: "M3.5 8.5l3 3 6-7",
  failed: "M4.5 4.5l7 7m0-7l-7 7",
  error: "M4.5 4.5l7 7m0-7l-7 7",
  denied: "M3.8 3.8l8.4 8.4M8 2.2a5.8 5.8 0 1 0 .01 0",
  partial: "M8 3.5v5.5m0 2.6v.4",
  cancelled: "M4 8h8",
  timeout: "M8 4.2V8l2.6 1.8M8 2.2a5.8 5.8 0 1 0 .01 0",
  running: "M5.5 3.8l6 4.2-6 4.2z",
  pending: "M4 8h.1M8 8h.1M12 8h.1",
  waiting: "M6 4v8m4-8v8",
  interrupted: "M6 4v8m4-8v8",
};
const KINDS = {
  completed: "good",
  ok: "good",
  cached: "good",
  failed: "bad",
  timeout: "bad",
  error: "bad",
  denied: "bad",
  partial: "warn",
  cancelled: "warn",
  interrupted: "warn",
  waiting: "warn",
  running: "busy",
  pending: "busy",
};

/** What a status means, as one of our own words. */
export function chooseKind(status) {
  return Object.hasOwn(KINDS, status) ? KINDS[status] : "busy";
}

/** The sign of a status; its word stands beside it. */
export function icon(status) {
  return drawing(
    `icon ${chooseKind(status)}`,
    Object.hasOwn(SHAPES, status) ? SHAPES[status] : SHAPES.pending,
  );
}

/** A small drawing of one line. */
export function drawing(className, shape) {
  const svg = document.createElementNS(SVG, "svg");
  mark(svg, { class: className, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" });
  const path = document.createElementNS(SVG, "path");
  mark(path, { d: shape });
  svg.append(path);
  return svg;
}

/** A status as sign and word. */
export function badge(status) {
  return make("span", `badge ${chooseKind(status)}`, icon(status), make("span", "word", status));
}

/** A button that does one thing. */
export function button(className, label, title, act) {
  const element = make("button", className, label);
  mark(element, { type: "button", title });
  element.addEventListener("click", act);
  return element;
}
