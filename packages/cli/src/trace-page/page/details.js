import { badge, button, chooseKind, icon, make, mark } from "./dom.js";

const MOST_STEPS = 400;

/** What is known of one run: what it was asked, what it did, what came of it. */
export function createDetails(data, onClose) {
  const head = make("header", "pane-head");
  const tabs = mark(make("div", "tabs"), { role: "tablist", "aria-label": "About this run" });
  const body = mark(make("div", "pane-body"), { role: "tabpanel", tabindex: "0", id: "panel" });
  const view = mark(make("aside", "pane", head, tabs, body), { "aria-label": "Details of the run" });
  let chosen = "";
  let run = null;

  function show(next) {
    run = next;
    view.hidden = false;
    head.replaceChildren(
      make("div", "pane-title", make("h2", "", run.agent), badge(run.status), make("span", "took", run.time)),
      make("p", "pane-task", run.task),
      button("close", "×", "Close (Esc)", onClose),
    );
    if (run.error) head.append(make("p", "error", run.error));
    drawTabs();
  }

  function drawTabs() {
    const pages = listPages(run, data);
    const page = choosePage(pages);
    tabs.replaceChildren(...pages.map((one) => makeTab(one, one === page)));
    body.replaceChildren(...page.draw());
    body.scrollTop = 0;
  }

  /** What somebody chose; otherwise what tells most. */
  function choosePage(pages) {
    const name = chosen || (run.result || run.steps.length === 0 ? "Result" : "Tools");
    return pages.find((page) => page.name === name) ?? pages[0];
  }

  function makeTab({ name, count }, isChosen) {
    const tab = button(isChosen ? "tab chosen" : "tab", name, name, () => choose(name));
    if (count) tab.append(make("span", "count", String(count)));
    return mark(tab, {
      role: "tab",
      "aria-selected": isChosen,
      "aria-controls": "panel",
      tabindex: isChosen ? 0 : -1,
    });
  }

  function choose(name) {
    chosen = name;
    drawTabs();
    tabs.querySelector(".chosen")?.focus();
  }

  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const pages = listPages(run, data);
    choose(pages[(pages.indexOf(choosePage(pages)) + by + pages.length) % pages.length].name);
  });
  view.hidden = true;
  return { view, show, focus: () => tabs.querySelector(".chosen")?.focus() };
}

function listPages(run, data) {
  return [
    { name: "Result", draw: () => resultPage(run) },
    { name: "Prompt", draw: () => promptPage(run, data) },
    {
      name: "Tools",
      count: run.steps.filter(({ kind }) => kind === "call").length,
      draw: () => stepsPage(run),
    },
    { name: "Files", count: run.files.length + run.checks.length, draw: () => filesPage(run) },
    { name: "About", draw: () => aboutPage(run) },
  ];
}

function resultPage(run) {
  const isOpen = ["running", "pending", "waiting", "interrupted"].includes(run.status);
  if (!run.result) return [quiet(isOpen ? "It has not answered yet." : "It gave no answer.")];
  const parts = [answer(run.result)];
  if (run.data) parts.push(folded("Data", make("pre", "", run.data)));
  return parts;
}

function promptPage(run, data) {
  const system = Object.hasOwn(data.prompts, run.system) ? data.prompts[run.system] : "";
  const parts = [make("h3", "", "What it was asked"), answer(run.prompt || run.task)];
  if (system) parts.push(folded("System prompt", make("pre", "text", system)));
  return parts;
}

function stepsPage(run) {
  if (run.steps.length === 0) return [quiet("It has done nothing yet.")];
  const steps = run.steps
    .slice(0, MOST_STEPS)
    .map((step) => (step.kind === "turn" ? makeTurn(step) : makeCall(step)));
  const more = run.steps.length - MOST_STEPS;
  return [make("div", "steps", ...steps), ...(more > 0 ? [quiet(`… ${more} more`)] : [])];
}

function makeTurn(step) {
  const head = make(
    "div",
    "turn-head",
    make("span", "", `Turn ${step.turn}`),
    make("span", "took", `${step.tokens} tokens · ${step.time}`),
  );
  const parts = [head];
  if (step.text) parts.push(answer(step.text));
  if (step.error) parts.push(make("p", "error", step.error));
  return make("section", "step turn", ...parts);
}

function makeCall(step) {
  const summary = make(
    "summary",
    "",
    icon(step.outcome),
    make("span", "tool", step.tool),
    make("span", `outcome ${chooseKind(step.outcome)}`, step.outcome),
    make("span", "brief", step.input.replaceAll(/\s+/g, " ")),
    make("span", "took", step.time),
  );
  const parts = [
    make("h4", "", "Input"),
    make("pre", "", step.input),
    make("h4", "", "Output"),
    make("pre", "", step.output || "nothing"),
  ];
  if (step.approvedBy) parts.push(quiet(`Approved by ${step.approvedBy}.`));
  return make("details", "step call", summary, ...parts);
}

function filesPage(run) {
  const parts = [];
  if (run.files.length > 0) {
    const list = make("ul", "files", ...run.files.map((file) => make("li", "", make("code", "", file))));
    parts.push(make("h3", "", "Changed files"), list);
  }
  if (run.checks.length > 0) {
    const list = run.checks.map(({ ok, name, reason }) =>
      make("li", "", badge(ok ? "ok" : "failed"), make("code", "", name), make("span", "quiet", reason)),
    );
    parts.push(make("h3", "", "Deliverables"), make("ul", "files", ...list));
  }
  return parts.length > 0 ? parts : [quiet("It changed no files.")];
}

function aboutPage(run) {
  const parts = [listFacts(run.facts)];
  if (run.notes.length > 0)
    parts.push(make("h3", "", "Notes"), make("ul", "", ...run.notes.map((note) => make("li", "", note))));
  if (run.phases.length > 0) parts.push(make("h3", "", "Phases"));
  for (const { phase, fields } of run.phases) parts.push(folded(phase, listFacts(fields)));
  return parts;
}

function listFacts(facts) {
  return make(
    "dl",
    "facts",
    ...facts.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]),
  );
}

function folded(title, content) {
  return make("details", "folded", make("summary", "", title), content);
}

function quiet(text) {
  return make("p", "quiet", text);
}

const FENCE = /^\s*```/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*\d{1,9}[.)]\s+(.*)$/;
const MOST_LINES = 4000;

/** An answer as people wrote it: headings, lists, code and emphasis, and never anything to load or to click. */
export function answer(text) {
  const lines = text.split("\n");
  if (lines.length > MOST_LINES) return make("pre", "text", text);
  const box = make("div", "answer");
  for (let at = 0; at < lines.length; ) at = block(lines, at, box);
  return box;
}

function block(lines, at, box) {
  const line = lines[at];
  if (line.trim() === "") return at + 1;
  if (FENCE.test(line)) return fenced(lines, at, box);
  const heading = HEADING.exec(line);
  if (heading) {
    box.append(make("p", `heading h${Math.min(3, heading[1].length)}`, ...inline(heading[2])));
    return at + 1;
  }
  if (BULLET.test(line)) return list(lines, at, box, "ul", BULLET);
  if (NUMBER.test(line)) return list(lines, at, box, "ol", NUMBER);
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines[end])) end++;
  box.append(make("p", "", ...inline(lines.slice(at, end).join("\n"))));
  return end;
}

function startsBlock(line) {
  return line.trim() === "" || [FENCE, HEADING, BULLET, NUMBER].some((form) => form.test(line));
}

function fenced(lines, at, box) {
  let end = at + 1;
  while (end < lines.length && !FENCE.test(lines[end])) end++;
  box.append(make("pre", "", lines.slice(at + 1, end).join("\n")));
  return end + 1;
}

function list(lines, at, box, tag, form) {
  const items = make(tag);
  let end = at;
  for (; end < lines.length && form.test(lines[end]); end++)
    items.append(make("li", "", ...inline(form.exec(lines[end])[1])));
  box.append(items);
  return end;
}

/** Code and strong words within a line. */
function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    if (part.length > 2 && part.startsWith("`")) return make("code", "", part.slice(1, -1));
    if (part.length > 4 && part.startsWith("**")) return make("strong", "", part.slice(2, -2));
    return part;
  });
}
