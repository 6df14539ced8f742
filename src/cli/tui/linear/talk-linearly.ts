import { basename } from "node:path";
import { createInterface } from "node:readline";
import { projectDirOf } from "../../open-project.ts";
import { plainText } from "../../plain-text.ts";
import { createProgress } from "../../run/show-progress.ts";
import type { Terminal } from "../../terminal.ts";
import { isTerminalGone } from "../../terminal-gone.ts";
import { sayFarewell } from "../say-farewell.ts";
import type { TuiOptions } from "../start-tui.ts";
import { createTui, FRAME_MS, type Tui } from "../tui.ts";
import { type Effect, initialState, isBusy } from "../tui-state.ts";
import { type Engine, openEngine } from "../work/engine.ts";
import { describeAsked, describeEntry } from "./describe.ts";
import { createLineReader } from "./line-reader.ts";

const HUNG_UP = 129;
const NOWHERE = { runIds: [], page: 1, most: 0 };

/** The same conversation, line by line: nothing is ever redrawn, so that it can be read aloud. Gives the exit code. */
export async function talkLinearly(options: TuiOptions, terminal: Terminal): Promise<number> {
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
  const project = basename(projectDirOf(options, terminal));
  const tui = createTui(initialState(project, options.permissionMode ?? "default"), perform);
  const opened = await openEngine(options, terminal, withProgress(tui, terminal)).catch((thrown) => {
    tui.stop();
    throw thrown;
  });
  engine.resolve(opened);
  terminal.print(`Retinue in ${project}. Type a request and Enter; /help lists commands, /quit leaves.`);
  const release = listen(tui, terminal, { work, leave: left.resolve });
  try {
    const code = await left.promise;
    if (isBusy(tui.snapshot().state)) terminal.tell("settling; once more to leave at once");
    await opened.close(code === 0 ? "end" : "leave");
    return code;
  } finally {
    tui.stop();
    release();
    sayFarewell(tui, terminal);
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
      for (const line of describeAsked(asked)) terminal.print(line);
    }
    if (isPrompted || work.open > 0 || isBusy(state) || state.leaving) return;
    isPrompted = true;
    terminal.prompt("you: ");
  };
  lines.on("line", (typedLine) => {
    // Arrow keys arrive as escape codes here, and they are nothing that anybody wrote.
    const line = plainText(typedLine);
    const { approvals } = tui.snapshot().state;
    // Whoever answers a line at a time has read the question: letters count at once.
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
  // What was said last is drawn a moment later; the prompt stands below it.
  work.onDone = () => setTimeout(tell, 2 * FRAME_MS);
  tell();
  return () => {
    unsubscribe();
    process.off("SIGINT", interrupt).off("SIGTERM", ended).off("SIGHUP", ended);
    lines.close();
    terminal.stdin.pause();
  };
}
