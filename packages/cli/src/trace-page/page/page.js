import { createDetails } from "./details.js";
import { badge, button, make, mark } from "./dom.js";
import { createGrid, createOverview } from "./grid.js";
import { createTree, foldAll, hasBelow, nextFailure, refresh, reveal } from "./tree.js";

const data = JSON.parse(document.getElementById("trace").textContent);
const tree = createTree(data.runs);
const app = document.getElementById("app");
const grid = createGrid(tree, data, select);
const overview = createOverview(tree, (at) => go(at, true));
const details = createDetails(data, close);
const found = mark(make("span", "found"), { role: "status" });
const search = mark(make("input", "search"), {
  type: "search",
  placeholder: "Search agents and tasks",
  "aria-label": "Search runs",
});
const help = makeHelp();

document.title = `${data.title} · trace`;
app.append(makeHeader(), makeToolbar(), overview.view, make("main", "main", grid.view, details.view), help);
grid.draw();
const failure = nextFailure(tree, -1);
if (tree.runs.length === 0) grid.view.append(make("p", "empty", "No runs."));
else if (window.matchMedia("(min-width: 60rem)").matches) go(Math.max(failure, 0), true);
grid.view.focus({ preventScroll: true });

function makeHeader() {
  const facts = data.facts.map(([name, value]) =>
    make("div", "fact", make("dt", "", name), make("dd", "", value)),
  );
  const title = make("div", "title", make("h1", "", data.title), badge(data.status));
  const header = make("header", "top", title, make("dl", "figures", ...facts));
  if (data.cut)
    header.append(make("p", "quiet", "Some texts are shortened here; retinue export has them whole."));
  return header;
}

function makeToolbar() {
  const count = tree.runs.filter(({ status }) => status === "failed" || status === "timeout").length;
  const parts = [
    search,
    found,
    make("span", "space"),
    makeLegend(),
    button("tool", "Expand", "Open everything (e)", () => foldEverything(false)),
    button("tool", "Collapse", "Fold everything (c)", () => foldEverything(true)),
    button("tool theme", "Theme", "Light or dark (t)", changeTheme),
    button("tool keys", "?", "Keys (?)", () => help.showModal()),
  ];
  if (count > 0) {
    const label = `${count.toLocaleString("en-US")} ${count === 1 ? "failure" : "failures"}`;
    parts.splice(2, 0, button("tool bad", label, "Go to the next failure (f)", goToFailure));
  }
  return mark(make("div", "toolbar", ...parts), { role: "toolbar", "aria-label": "What is shown" });
}

function makeLegend() {
  const signs = [
    ["turn", "model"],
    ["call", "tools"],
    ["idle", "waiting"],
  ];
  return make(
    "div",
    "legend",
    ...signs.map(([kind, word]) => make("span", "", make("i", `swatch ${kind}`), word)),
  );
}

function makeHelp() {
  const keys = [
    ["↑ ↓ or j k", "next and previous run"],
    ["← → or h l", "fold and open"],
    ["Enter", "details of the run"],
    ["Esc", "close the details"],
    ["f", "next failure"],
    ["/", "search"],
    ["e c", "open and fold everything"],
    ["t", "light or dark"],
  ];
  const list = keys.flatMap(([key, what]) => [make("dt", "", key), make("dd", "", what)]);
  const dialog = make("dialog", "help", make("h2", "", "Keys"), make("dl", "", ...list));
  dialog.addEventListener("click", () => dialog.close());
  return mark(dialog, { "aria-label": "Keys" });
}

function select(at, open) {
  tree.selected = at;
  if (open) app.classList.add("has-pane");
  if (app.classList.contains("has-pane")) details.show(tree.runs[at]);
  grid.draw();
  grid.show(at);
  overview.draw();
}

function go(at, open) {
  if (tree.query !== "" && !tree.visible.includes(at)) setQuery("");
  reveal(tree, at);
  select(at, open);
}

function close() {
  app.classList.remove("has-pane");
  details.view.hidden = true;
  grid.draw();
  grid.view.focus({ preventScroll: true });
}

function goToFailure() {
  const at = nextFailure(tree, app.classList.contains("has-pane") ? tree.selected : -1);
  if (at >= 0) go(at, true);
}

function foldEverything(fold) {
  foldAll(tree, fold);
  if (!tree.visible.includes(tree.selected)) tree.selected = tree.visible[0] ?? 0;
  grid.draw();
  grid.show(tree.selected);
}

function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  overview.draw();
}

function setQuery(text) {
  search.value = text;
  tree.query = text.trim();
  refresh(tree);
  found.textContent = tree.query === "" ? "" : `${tree.found.toLocaleString("en-US")} found`;
  if (!tree.visible.includes(tree.selected)) tree.selected = tree.visible[0] ?? tree.selected;
  grid.view.scrollTop = 0;
  grid.draw();
}

function move(by) {
  const { visible } = tree;
  if (visible.length === 0) return;
  const at = Math.max(0, visible.indexOf(tree.selected));
  select(visible[Math.min(visible.length - 1, Math.max(0, at + by))], false);
}

function inward() {
  const at = tree.selected;
  if (hasBelow(tree, at) && tree.folded.has(at)) grid.fold(at, false);
  else if (hasBelow(tree, at)) move(1);
}

function outward() {
  const at = tree.selected;
  if (hasBelow(tree, at) && !tree.folded.has(at)) grid.fold(at, true);
  else if (tree.runs[at].parent >= 0) go(tree.runs[at].parent, false);
}

const KEYS = {
  ArrowDown: () => move(1),
  j: () => move(1),
  ArrowUp: () => move(-1),
  k: () => move(-1),
  PageDown: () => move(grid.page()),
  PageUp: () => move(-grid.page()),
  Home: () => move(-tree.runs.length),
  End: () => move(tree.runs.length),
  ArrowRight: inward,
  l: inward,
  ArrowLeft: outward,
  h: outward,
  Enter() {
    select(tree.selected, true);
    details.focus();
  },
  f: goToFailure,
  e: () => foldEverything(false),
  c: () => foldEverything(true),
  t: changeTheme,
  "/": () => search.focus(),
  "?": () => help.showModal(),
};

search.addEventListener("input", () => setQuery(search.value));
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") setQuery("");
  if (event.key !== "Escape" && event.key !== "Enter") return;
  event.preventDefault();
  event.stopPropagation();
  grid.view.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || tree.runs.length === 0) return;
  const { target } = event;
  if (event.key === "Escape" && app.classList.contains("has-pane")) return close();
  const inPane = target instanceof Element && target.closest(".pane, button, input, summary");
  const isMoving = /^(?:Arrow|Page|Home|End|Enter)/.test(event.key);
  if (target === search || (inPane && isMoving)) return;
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : undefined;
  if (!act) return;
  event.preventDefault();
  act();
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", overview.draw);
