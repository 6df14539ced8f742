import { kindOf, make, mark } from "./dom.js";

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

  function boxOf(run, width) {
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
      const place = boxOf(run, width);
      pen.globalAlpha = at === tree.selected ? 1 : 0.5;
      pen.fillStyle = colours[kindOf(run.status)];
      pen.beginPath();
      if (place.height > 4) pen.roundRect(place.left, place.top, place.width, place.height, 2);
      else pen.rect(place.left, place.top, place.width, place.height);
      pen.fill();
    });
  }

  canvas.addEventListener("click", (event) => {
    const at = tree.runs.findLastIndex((run) => {
      const place = boxOf(run, box.clientWidth);
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
