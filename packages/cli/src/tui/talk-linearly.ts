import { basename } from "node:path";
import { createInterface } from "node:readline";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import { findProjectDir } from "../open-project.ts";
import { createProgress } from "../progress/show-progress.ts";
import { type Cli, isTerminalGone, type Terminal } from "../terminal.ts";
import { describeAskedCall, sayRisk } from "../work/waiting.ts";
import type { Key } from "./editor.ts";
import { type Engine, openEngine, type TuiOptions } from "./engine.ts";
import { createTui, FRAME_MS, sayFarewell, type Tui } from "./tui.ts";
import { createState, type Effect, isBusy, type OpenQuestion, type TalkEntry } from "./tui-state.ts";

const HUNG_UP = 129;
const NOWHERE = { runIds: [], page: 1, most: 0 };

/** The same conversation, line by line: nothing is ever redrawn, so that it can be read aloud. Gives the exit code. */
export async function talkLinearly(cli: Cli<TuiOptions>): Promise<number> {
  const engine = Promise.withResolvers<Engine>();
  const left = Promise.withResolvers<number>();
  const work = { open: 0, onDone: () => {} };
  const perform = (effect: Effect): void => {
    if (effect.kind === "leave") {
      left.resolve(0);
      return;
    }
    work.open++;
    const done = () => {
      work.open--;
      work.onDone();
    };
    engine.promise.then((it) => it.perform(effect)).then(done, done);
  };
  const project = basename(findProjectDir(cli));
  const tui = createTui(createState(project, cli.options.permissionMode ?? "default"), perform);
  const opened = await openEngine(cli, withProgress(tui, cli)).catch((thrown) => {
    tui.stop();
    throw thrown;
  });
  engine.resolve(opened);
  cli.print(`Retinue in ${project}. Type a request and Enter; /help lists commands, /quit leaves.`);
  const release = listen(tui, cli, { work, leave: left.resolve });
  try {
    const code = await left.promise;
    if (isBusy(tui.snapshot().state)) cli.tell("settling; once more to leave at once");
    await opened.close(code === 0 ? "end" : "leave");
    return code;
  } finally {
    tui.stop();
    release();
    sayFarewell(tui, cli);
  }
}

/** The screen's state, with every event told as it comes. */
function withProgress(tui: Tui, terminal: Terminal): Tui {
  const progress = createProgress(terminal);
  return {
    ...tui,
    dispatch(action) {
      if (action.type === "event") progress(action.event);
      tui.dispatch(action);
    },
  };
}

/** What is being done for the person, and how they leave. */
type Listening = { work: { open: number; onDone: () => void }; leave: (code: number) => void };

/** Reads lines and tells what is new; gives how to stop. */
function listen(tui: Tui, terminal: Terminal, { work, leave }: Listening): () => void {
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  let isPrompted = false;
  const told = new WeakSet<object>();
  const reader = createLineReader();
  const tell = () => {
    const { state } = tui.snapshot();
    for (const entry of state.entries) {
      if (told.has(entry) || (entry.kind === "agent" && entry.streaming)) continue;
      told.add(entry);
      for (const line of describeEntry(entry)) terminal.print(line);
    }
    const [asked] = state.approvals;
    if (asked && !told.has(asked.request)) {
      told.add(asked.request);
      reader.asked(Date.now());
      for (const line of describeQuestion(asked)) terminal.print(line);
    }
    if (isPrompted || work.open > 0 || isBusy(state) || state.leaving) return;
    isPrompted = true;
    terminal.prompt("you: ");
  };
  lines.on("line", (typedLine) => {
    // Arrow keys arrive as escape codes here; they are not text.
    const line = stripControls(typedLine);
    const { approvals } = tui.snapshot().state;
    // A person who answers line by line has read the question: letters count at once.
    const atMs = Math.max(Date.now(), approvals[0]?.armedAtMs ?? 0);
    const { keys, fault } = reader.read(line, { isAsked: approvals.length > 0, nowMs: Date.now() });
    if (fault !== undefined) terminal.print(fault);
    isPrompted = true;
    for (const key of keys) tui.dispatch({ type: "key", key, atMs, rows: [], page: 1, most: 0 });
    isPrompted = false;
    tell();
  });
  lines.on("close", () => leave(isTerminalGone(terminal.stdin) ? HUNG_UP : 0));
  let isLeaving = false;
  const ended = (name: NodeJS.Signals) => {
    const code = name === "SIGHUP" ? HUNG_UP : 143;
    if (isLeaving) process.exit(code);
    isLeaving = true;
    leave(code);
  };
  const interrupt = () => {
    terminal.tell("stopping; Ctrl-C again to leave");
    tui.press({ name: "interrupt" }, NOWHERE);
  };
  process.on("SIGINT", interrupt).on("SIGTERM", ended).on("SIGHUP", ended);
  const unsubscribe = tui.subscribe(tell);
  // What was said last is drawn a moment later; the prompt comes below it.
  work.onDone = () => setTimeout(tell, 2 * FRAME_MS);
  tell();
  return () => {
    unsubscribe();
    process.off("SIGINT", interrupt).off("SIGTERM", ended).off("SIGHUP", ended);
    lines.close();
    terminal.stdin.pause();
  };
}

type TypedLine = { keys: readonly Key[]; fault?: string };

const NO_ANSWER = "that is no answer and was not sent: y for once, a for this run, or n and why not";
const GONE = "the question has gone, and that was not sent";
const TOO_EARLY = "the question is another one now, and that was not sent";
const BARE_ANSWER = /^\s*(?:y|yes|a|always|n|no)\s*$/i;
/** Time for a person to notice that the question has changed. */
const NOTICED_MS = 1_000;

/** Turns typed lines into keys, and ignores answers that were meant for another question. */
export function createLineReader() {
  let isOwed = false;
  let countsFromMs = 0;
  return {
    /** A question was put to the person. */
    asked(nowMs: number): void {
      // The one before went away without an answer from here, perhaps while it was being typed.
      if (isOwed) countsFromMs = nowMs + NOTICED_MS;
      isOwed = true;
    },
    /** The keys of a line, and why it was ignored, if it was. */
    read(line: string, { isAsked, nowMs }: { isAsked: boolean; nowMs: number }): TypedLine {
      if (isAsked && nowMs < countsFromMs) return { keys: [], fault: TOO_EARLY };
      const isLate = !isAsked && isOwed && BARE_ANSWER.test(line);
      const keys = isLate ? [] : isAsked ? answerKeys(line) : readTyped(line);
      if (isAsked && keys.length === 0) return line.trim() === "" ? { keys } : { keys, fault: NO_ANSWER };
      isOwed = false;
      return isLate ? { keys, fault: GONE } : { keys };
    },
  };
}

/** A line as it is typed and sent; one that ends with a backslash continues in the next. */
function readTyped(line: string): Key[] {
  return [...(line === "" ? [] : [{ name: "text", text: line } as const]), { name: "enter" } as const];
}

/** The lines for a piece of the conversation; none for what the person wrote or progress has shown. */
function describeEntry(entry: TalkEntry): string[] {
  switch (entry.kind) {
    case "person":
      return entry.to ? [`message to ${entry.to.agent}: ${entry.to.fate}`] : [];
    case "agent":
      return [`${entry.agent}:`, ...stripControls(entry.text).trimEnd().split("\n")];
    case "notice":
      return [`${entry.level}: ${cutToLine(entry.text, 2_000)}`];
    case "output":
      return stripControls(entry.text).trimEnd().split("\n");
    default:
      return [];
  }
}

/** A question in full, and how to answer it. */
function describeQuestion({ request, diff }: OpenQuestion): string[] {
  const { chain, tool, risk, reason, tainted } = request;
  return [
    `approval needed: ${chain.map((name) => cutToLine(name, 60)).join(" > ")} asks for ${cutToLine(tool, 80)}`,
    sayRisk(risk, tainted),
    `reason: ${cutToLine(reason, 500)}`,
    ...describeAskedCall({ ...request, diff }).split("\n"),
    "answer y for once, a for this run, or n and why not:",
  ];
}

/** The keys of a line that answers a question; an empty one answers nothing. */
export function answerKeys(line: string): Key[] {
  const [, letter = "", note = ""] = /^\s*([yan])(?:es|o|lways)?\b\s*(.*)$/i.exec(line) ?? [];
  if (letter === "") return [];
  const key: Key = { name: "text", text: letter.toLowerCase() };
  if (letter.toLowerCase() !== "n") return note === "" ? [key] : [];
  return [key, ...(note === "" ? [] : [{ name: "text", text: note } as const]), { name: "enter" }];
}
