import { chooseKind, drawing, icon, make, mark } from "./dom.js";
import { hasBelow, refresh } from "./tree.js";

const BEYOND = 8;
const CHEVRON = "M6 4l4 4-4 4";

/** The rows of runs beside their bars. Only what is in sight is in the document, so that thousands scroll freely. */
export function createGrid(tree, data, onSelect) {
  const body = make("div", "rows");
  const view = mark(make("div", "grid", makeHead(data), body), {
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
      row = makeRow(at);
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

  function makeRow(at) {
    const run = tree.runs[at];
    const toggle = make("span", hasBelow(tree, at) ? "toggle" : "toggle none", drawing("chevron", CHEVRON));
    const indent = make("span", "indent");
    indent.style.width = `calc(var(--step) * ${Math.min(run.depth, 12)})`;
    const name = make("span", "name", make("span", "agent", run.agent), make("span", "task", run.task));
    const cells = [
      make("div", "cell run", indent, toggle, icon(run.status), name),
      make("div", `cell state ${chooseKind(run.status)}`, run.status),
      make("div", "cell figure time", run.time),
      make("div", "cell figure tokens", run.tokens),
      make("div", "cell figure cost", run.cost),
      make("div", "cell wide", runBar(run, data.gaps)),
    ];
    for (const cell of cells) mark(cell, { role: "gridcell" });
    const row = make("div", `row ${chooseKind(run.status)}${run.matched ? "" : " above"}`, ...cells);
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

function makeHead({ ticks, gaps }) {
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

/** Pieces closer than this share of the axis are drawn as one. */
const CLOSE = 0.002;

/** The bar of a run: pale while it waits, solid where a model or a tool of its own was at work. */
function runBar(run, gaps) {
  const lane = make("div", "lane");
  for (const gap of gaps) lane.append(placed("gap", gap.from, gap.to));
  const bar = placed(`bar ${chooseKind(run.status)}`, run.x[0], run.x[1]);
  const length = Math.max(run.x[1] - run.x[0], 1e-9);
  const inside = (x) => Math.min(1, Math.max(0, (x - run.x[0]) / length));
  for (const kind of ["turn", "call"])
    for (const [from, to] of pieces(run.steps, kind))
      bar.append(placed(`piece ${kind}`, inside(from), inside(to)));
  lane.append(bar);
  return lane;
}

/** Something from one share of the axis to another. */
function placed(className, from, to) {
  const element = make("span", className);
  element.style.left = `${(from * 100).toFixed(3)}%`;
  element.style.width = `${(Math.max(0, to - from) * 100).toFixed(3)}%`;
  return element;
}

function pieces(steps, kind) {
  const joined = [];
  for (const step of steps) {
    if (step.kind !== kind || (kind === "call" && isDelegation(step.tool))) continue;
    const last = joined.at(-1);
    if (last && step.x[0] - last[1] < CLOSE) last[1] = Math.max(last[1], step.x[1]);
    else joined.push([...step.x]);
  }
  return joined;
}

function isDelegation(tool) {
  return tool === "delegate" || tool === "delegate_many" || tool === "collect_results";
}

const LEAST = 28;
const MOST = 120;
const LANE = 9;

/** All runs at a glance, each in its lane, so that what ran at the same time stands one above the other. */
export function createOverview(tree, onPick) {
  const canvas = document.createElement("canvas");
  const box = make("div", "overview", canvas);
  mark(box, { "aria-hidden": "true", title: "Every run in its lane; click one to see it" });
  const probes = Object.fromEntries(
    ["good", "bad", "warn", "busy"].map((kind) => [kind, make("span", `probe ${kind}`)]),
  );
  box.append(...Object.values(probes));
  const lanes = tree.runs.reduce((most, run) => Math.max(most, run.lane), 0) + 1;
  const height = Math.min(MOST, Math.max(LEAST, lanes * LANE + 4));
  box.style.height = `${height}px`;
  const laneHeight = (height - 4) / lanes;

  function findBox(run, width) {
    const left = run.x[0] * width;
    const right = Math.max(left + 2, run.x[1] * width);
    return {
      left,
      top: 2 + run.lane * laneHeight,
      width: right - left,
      height: Math.max(1, laneHeight - Math.min(2, laneHeight / 4)),
    };
  }

  function draw() {
    const width = box.clientWidth;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    if (!pen || width === 0) return;
    pen.scale(scale, scale);
    const colours = Object.fromEntries(
      Object.entries(probes).map(([kind, probe]) => [kind, getComputedStyle(probe).color]),
    );
    tree.runs.forEach((run, at) => {
      const place = findBox(run, width);
      pen.globalAlpha = at === tree.selected ? 1 : 0.5;
      pen.fillStyle = colours[chooseKind(run.status)];
      pen.beginPath();
      if (place.height > 4) pen.roundRect(place.left, place.top, place.width, place.height, 2);
      else pen.rect(place.left, place.top, place.width, place.height);
      pen.fill();
    });
  }

  canvas.addEventListener("click", (event) => {
    const at = tree.runs.findLastIndex((run) => {
      const place = findBox(run, box.clientWidth);
      return (
        event.offsetX >= place.left - 2 &&
        event.offsetX <= place.left + place.width + 2 &&
        event.offsetY >= place.top &&
        event.offsetY <= place.top + place.height + 1
      );
    });
    if (at >= 0) onPick(at);
  });
  new ResizeObserver(draw).observe(box);
  return { view: box, draw };
}
