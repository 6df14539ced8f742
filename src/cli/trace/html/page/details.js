import { badge, button, icon, kindOf, make, mark } from "./dom.js";
import { answer } from "./markdown.js";

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
    const pages = pagesOf(run, data);
    const page = pageOf(pages);
    tabs.replaceChildren(...pages.map((one) => tabOf(one, one === page)));
    body.replaceChildren(...page.draw());
    body.scrollTop = 0;
  }

  /** What somebody chose; otherwise what tells most. */
  function pageOf(pages) {
    const name = chosen || (run.result || run.steps.length === 0 ? "Result" : "Tools");
    return pages.find((page) => page.name === name) ?? pages[0];
  }

  function tabOf({ name, count }, isChosen) {
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
    const pages = pagesOf(run, data);
    choose(pages[(pages.indexOf(pageOf(pages)) + by + pages.length) % pages.length].name);
  });
  view.hidden = true;
  return { view, show, focus: () => tabs.querySelector(".chosen")?.focus() };
}

function pagesOf(run, data) {
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
    .map((step) => (step.kind === "turn" ? turnOf(step) : callOf(step)));
  const more = run.steps.length - MOST_STEPS;
  return [make("div", "steps", ...steps), ...(more > 0 ? [quiet(`… ${more} more`)] : [])];
}

function turnOf(step) {
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

function callOf(step) {
  const summary = make(
    "summary",
    "",
    icon(step.outcome),
    make("span", "tool", step.tool),
    make("span", `outcome ${kindOf(step.outcome)}`, step.outcome),
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
  const parts = [factsOf(run.facts)];
  if (run.notes.length > 0)
    parts.push(make("h3", "", "Notes"), make("ul", "", ...run.notes.map((note) => make("li", "", note))));
  if (run.phases.length > 0) parts.push(make("h3", "", "Phases"));
  for (const { phase, fields } of run.phases) parts.push(folded(phase, factsOf(fields)));
  return parts;
}

function factsOf(facts) {
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
