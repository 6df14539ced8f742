import type { Trace, TraceCall, TraceRun, TraceTurn } from "../schema/inspect/trace.ts";
import { showCost, showCount, showDuration } from "../show/measures.ts";
import { nameStatus } from "../show/standing.ts";
import { cutToLine, escapeMarkdown, stripControls } from "../text/plain-text.ts";

const MOST_LEVEL = 6;
const MAX_TITLE = 100;

/**
 * A session as Markdown to read. Every text of the record stands in a fence that it cannot close, so that nothing in it
 * becomes an image, a link or markup in whatever shows the file.
 */
export function writeTranscript(trace: Trace): string {
  const { session, totals } = trace;
  const parts = [
    `# ${line(session.title, 200) || session.id}`,
    [
      `- Session: \`${session.id}\`, ${session.state}`,
      `- Project: ${line(session.project, 500)}`,
      `- Started: ${session.createdAt}`,
      `- ${showCount(totals.runs, "run")}, ${showCount(totals.calls, "tool call")}, ${showCount(totals.tokens, "token")}, ${showCost(totals.costUsd)}, ${showDuration(totals.activeMs)} at work`,
    ].join("\n"),
  ];
  // A stack, not recursion: runs may be nested deeply.
  const left: Step[] = trace.runs.map((run, index) => ({ run, number: String(index + 1) })).reverse();
  for (let step = left.pop(); step; step = left.pop()) {
    if ("text" in step) parts.push(step.text);
    else {
      parts.push(writeHead(step.run, step.number, trace));
      left.push(...listSteps(step.run, step.number).reverse());
    }
  }
  return parts.join("\n\n");
}

type Step = { text: string } | { run: TraceRun; number: string };

function writeHead(run: TraceRun, number: string, { endMs }: Trace): string {
  const level = "#".repeat(Math.min(MOST_LEVEL, number.split(".").length + 1));
  const task = line(run.task, MAX_TITLE);
  const facts = [
    nameStatus(run),
    showDuration(run.durationMs ?? Math.max(0, endMs - run.startMs)),
    showCount(run.iterations, "turn"),
    showCount(run.tokens.self, "token"),
    showCost(run.costUsd.self),
    ...(run.model ? [line(run.model, 100)] : []),
    ...(run.attempt > 0 ? [`retry ${run.attempt}`] : []),
    ...(run.bailoutReason ? [`stopped by ${line(run.bailoutReason, 100)}`] : []),
    ...(run.parallel ? ["at the same time as a sibling"] : []),
    `\`${run.runId}\``,
  ];
  return [
    `${level} ${number} ${line(run.agent, 60)}: ${task}`,
    facts.join(" · "),
    section(
      `Asked${run.context.mode ? ` (context: ${line(run.context.mode, 40)})` : ""}`,
      run.context.message,
    ),
  ].join("\n\n");
}

/** What a run did, in order, and how it ended. */
function listSteps(run: TraceRun, number: string): Step[] {
  let below = 0;
  const steps = [...run.turns, ...run.calls, ...run.children]
    .sort((one, other) => one.openedSeq - other.openedSeq)
    .map((one): Step => {
      if ("runId" in one) return { run: one, number: `${number}.${++below}` };
      return { text: "tool" in one ? callText(one) : turnText(one) };
    });
  return [...steps, { text: writeEnd(run, number) }];
}

function turnText({ turn, text, error, model, tokens }: TraceTurn): string {
  const facts = `${showCount(tokens.input + tokens.output, "token")}${model ? `, ${line(model, 100)}` : ""}`;
  const parts = [`**Turn ${turn}** (${facts})`];
  if (text) parts.push(fence(text));
  if (error) parts.push(section("Error", error));
  return parts.join("\n\n");
}

function callText({ tool, outcome, durationMs, input, output, approvedBy }: TraceCall): string {
  const time = durationMs === null ? "" : `, ${showDuration(durationMs)}`;
  const approved = approvedBy ? `, approved by ${line(approvedBy, 60)}` : "";
  return [`**Call ${line(tool, 60)}** (${outcome}${time}${approved})`, fence(input), fence(output)].join(
    "\n\n",
  );
}

function writeEnd({ error, result, files, agent }: TraceRun, number: string): string {
  const parts = [`**End of ${number} ${line(agent, 60)}**`];
  if (error) parts.push(section("Error", error));
  if (result?.text) parts.push(section("Answer", result.text));
  if (files.length > 0) parts.push(section("Files", files.join("\n")));
  return parts.join("\n\n");
}

function section(name: string, text: string): string {
  return `**${name}**\n\n${fence(text)}`;
}

/** A code block whose fence is longer than any run of backticks in the plain text. */
function fence(given: string): string {
  const text = stripControls(given);
  const longest = [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2);
  const ticks = "`".repeat(longest + 1);
  return `${ticks}text\n${text}\n${ticks}`;
}

function line(text: string, limit: number): string {
  return escapeMarkdown(cutToLine(text, limit));
}
