import { placed, runBar } from "./bars.js";
import { drawing, icon, kindOf, make, mark } from "./dom.js";
import { hasBelow, refresh } from "./tree.js";

const BEYOND = 8;
const CHEVRON = "M6 4l4 4-4 4";

/** The rows of runs beside their bars. Only what is in sight is in the document, so that thousands scroll freely. */
export function createGrid(tree, data, onSelect) {
  const body = make("div", "rows");
  const view = mark(make("div", "grid", headOf(data), body), {
    role: "treegrid",
    tabindex: "0",
    "aria-label": "Runs",
    "aria-multiselectable": "false",
  });
  const shown = new Map();
  let height = 36;

  function draw() {
    height = Number.parseFloat(getComputedStyle(view).getPropertyValue("--row")) || 36;
    const { visible } = tree;
    body.style.height = `${visible.length * height}px`;
    const top = view.scrollTop;
    const first = Math.max(0, Math.floor(top / height) - BEYOND);
    const last = Math.min(visible.length, Math.ceil((top + view.clientHeight) / height) + BEYOND);
    const wanted = new Set(visible.slice(first, last));
    for (const [at, row] of shown) {
      if (wanted.has(at)) continue;
      row.remove();
      shown.delete(at);
    }
    for (let line = first; line < last; line++) place(visible[line], line);
    mark(view, { "aria-rowcount": visible.length + 1, "aria-activedescendant": `run-${tree.selected}` });
  }

  function place(at, line) {
    let row = shown.get(at);
    if (!row) {
      row = rowOf(at);
      shown.set(at, row);
      body.append(row);
    }
    row.style.transform = `translateY(${line * height}px)`;
    row.classList.toggle("selected", at === tree.selected);
    const isOpen = tree.query !== "" || !tree.folded.has(at);
    mark(row, {
      "aria-rowindex": line + 2,
      "aria-selected": at === tree.selected,
      "aria-expanded": hasBelow(tree, at) ? isOpen : undefined,
    });
  }

  function rowOf(at) {
    const run = tree.runs[at];
    const toggle = make("span", hasBelow(tree, at) ? "toggle" : "toggle none", drawing("chevron", CHEVRON));
    const indent = make("span", "indent");
    indent.style.width = `calc(var(--step) * ${Math.min(run.depth, 12)})`;
    const name = make("span", "name", make("span", "agent", run.agent), make("span", "task", run.task));
    const cells = [
      make("div", "cell run", indent, toggle, icon(run.status), name),
      make("div", `cell state ${kindOf(run.status)}`, run.status),
      make("div", "cell figure time", run.time),
      make("div", "cell figure tokens", run.tokens),
      make("div", "cell figure cost", run.cost),
      make("div", "cell wide", runBar(run, data.gaps)),
    ];
    for (const cell of cells) mark(cell, { role: "gridcell" });
    const row = make("div", `row ${kindOf(run.status)}${run.matched ? "" : " above"}`, ...cells);
    mark(row, {
      role: "row",
      id: `run-${at}`,
      "aria-level": run.depth + 1,
      title: `${run.agent}: ${run.task}`.slice(0, 300),
    });
    row.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest(".toggle:not(.none)"))
        fold(at, !tree.folded.has(at));
      else onSelect(at, true);
    });
    return row;
  }

  function fold(at, isFolded) {
    if (isFolded) tree.folded.add(at);
    else tree.folded.delete(at);
    refresh(tree);
    draw();
  }

  function show(at) {
    const line = tree.visible.indexOf(at);
    if (line < 0) return;
    const top = line * height;
    const room = view.clientHeight - body.offsetTop;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + height > view.scrollTop + room) view.scrollTop = top + height - room;
  }

  view.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(view);
  return { view, draw, fold, show, page: () => Math.max(1, Math.floor(view.clientHeight / height) - 2) };
}

function headOf({ ticks, gaps }) {
  const axis = make("div", "axis");
  for (const { at, text } of ticks) {
    const tick = make("span", "tick", text);
    // The last ones end where they stand, so that they have room.
    if (at > 0.8) tick.style.right = `${((1 - at) * 100).toFixed(3)}%`;
    else tick.style.left = `${(at * 100).toFixed(3)}%`;
    axis.append(tick);
  }
  for (const gap of gaps) axis.append(mark(placed("gap", gap.from, gap.to), { title: gap.text }));
  const names = [
    ["run", "Run"],
    ["state", "Status"],
    ["figure time", "Time"],
    ["figure tokens", "Tokens"],
    ["figure cost", "Cost"],
  ];
  const cells = names.map(([kind, name]) =>
    mark(make("div", `cell ${kind}`, name), { role: "columnheader" }),
  );
  const wide = mark(make("div", "cell wide", axis), { role: "columnheader", "aria-label": "When it ran" });
  return mark(make("div", "row head", ...cells, wide), { role: "row", "aria-rowindex": 1 });
}
