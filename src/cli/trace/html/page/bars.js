import { kindOf, make } from "./dom.js";

/** Pieces closer than this share of the axis are drawn as one. */
const CLOSE = 0.002;

/** The bar of a run: pale while it waits, solid where a model or a tool of its own was at work. */
export function runBar(run, gaps) {
  const lane = make("div", "lane");
  for (const gap of gaps) lane.append(placed("gap", gap.from, gap.to));
  const bar = placed(`bar ${kindOf(run.status)}`, run.x[0], run.x[1]);
  const length = Math.max(run.x[1] - run.x[0], 1e-9);
  const inside = (x) => Math.min(1, Math.max(0, (x - run.x[0]) / length));
  for (const kind of ["turn", "call"])
    for (const [from, to] of pieces(run.steps, kind))
      bar.append(placed(`piece ${kind}`, inside(from), inside(to)));
  lane.append(bar);
  return lane;
}

/** Something from one share of the axis to another. */
export function placed(className, from, to) {
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
