const MANY = 300;

/** Which runs are shown: what is folded, what is searched for, and which one is selected. */
export function createTree(runs) {
  const folded = new Set();
  if (runs.length > MANY) foldDeep(runs, folded);
  const tree = { runs, folded, query: "", selected: 0, visible: [], found: 0 };
  refresh(tree);
  return tree;
}

/** Works out which rows there are. */
export function refresh(tree) {
  const { runs, folded, query } = tree;
  tree.visible = [];
  if (query !== "") return searchRuns(tree);
  tree.found = runs.length;
  for (let at = 0; at < runs.length; at = folded.has(at) ? runs[at].end : at + 1) tree.visible.push(at);
}

/** Whether a run has others below it. */
export function hasBelow(tree, at) {
  return tree.runs[at].end > at + 1;
}

/** Opens everything above a run. */
export function reveal(tree, at) {
  for (let above = tree.runs[at].parent; above >= 0; above = tree.runs[above].parent)
    tree.folded.delete(above);
  refresh(tree);
}

/** The next run from `at` that did not do what it was for, going round; -1 if there is none. */
export function nextFailure(tree, at) {
  const { runs } = tree;
  for (let step = 1; step <= runs.length; step++) {
    const place = (at + step) % runs.length;
    if (runs[place].status === "failed" || runs[place].status === "timeout") return place;
  }
  return -1;
}

/** Folds or opens everything that can be. */
export function foldAll(tree, fold) {
  tree.folded.clear();
  if (fold) for (let at = 0; at < tree.runs.length; at++) if (hasBelow(tree, at)) tree.folded.add(at);
  refresh(tree);
}

function searchRuns(tree) {
  const words = tree.query.toLowerCase().split(/\s+/).filter(Boolean);
  const keep = new Set();
  tree.found = 0;
  tree.runs.forEach((run, at) => {
    const text = `${run.agent} ${run.task} ${run.status} ${run.model} ${run.error}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return;
    tree.found++;
    for (let place = at; place >= 0 && !keep.has(place); place = tree.runs[place].parent) keep.add(place);
  });
  tree.visible = [...keep].sort((one, other) => one - other);
}

/** Of a large tree, only the upper runs and the ways to failures are open. */
function foldDeep(runs, folded) {
  runs.forEach((run, at) => {
    if (run.depth > 0 && run.end > at + 1) folded.add(at);
  });
  const first = runs.findIndex((run) => run.status === "failed" || run.status === "timeout");
  for (let above = first < 0 ? -1 : runs[first].parent; above >= 0; above = runs[above].parent)
    folded.delete(above);
}
