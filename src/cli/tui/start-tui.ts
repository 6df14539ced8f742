import { basename, resolve } from "node:path";
import type { PermissionMode } from "../../runtime/approvals.ts";
import { RetinueError } from "../../schema/error.ts";
import type { RunOptions } from "../run/run-options.ts";
import type { Terminal } from "../terminal.ts";
import { hasUnicode } from "../tree/glyphs.ts";
import { createPaint as createTreePaint, hasColour } from "../tree/paint.ts";
import type { Look } from "./app.ts";
import { guardScreen } from "./guard-screen.ts";
import { sayFarewell } from "./say-farewell.ts";
import { createTui, type Tui } from "./tui.ts";
import { type Effect, initialState } from "./tui-state.ts";
import { drawScreen } from "./view/draw-screen.ts";
import { createPaint } from "./view/spans.ts";
import type { Engine } from "./work/engine.ts";

/** Options of `retinue tui`. */
export type TuiOptions = Pick<RunOptions, "cwd" | "agent" | "model" | "agents"> & {
  permissionMode?: PermissionMode;
  /** The session to go on in. */
  resume?: string;
  /** Goes on in the newest session of the project. */
  continue?: boolean;
  linear?: boolean;
  screenReader?: boolean;
};

/** `retinue` on a terminal: the conversation, until the person leaves. Gives the exit code. */
export async function startTui(options: TuiOptions, terminal: Terminal): Promise<number> {
  if (isLinear(options, terminal.env)) {
    const { talkLinearly } = await import("./linear/talk-linearly.ts");
    return talkLinearly(options, terminal);
  }
  if (!terminal.hasScreen)
    throw new RetinueError(
      "usage",
      "there is no terminal to draw on",
      'give one task with: retinue run "…"; or talk line by line, also by stdin, with: retinue tui --linear',
    );
  const engine = Promise.withResolvers<Engine>();
  let leaves = 0;
  let isHurried = false;
  const left = Promise.withResolvers<number>();
  const impatient = Promise.withResolvers<number>();
  const perform = (effect: Effect): void => {
    if (effect.kind === "leave") (leaves++ === 0 ? left : impatient).resolve(leaves > 1 ? LEFT_AT_ONCE : 0);
    else if (effect.kind === "redraw") repaint();
    else engine.promise.then((it) => it.perform(effect)).catch(() => {});
  };
  const project = basename(resolve(terminal.cwd, options.cwd ?? "."));
  const tui = createTui(initialState(project, options.permissionMode ?? "default"), perform);
  const look = lookOf(terminal.env);
  const screen = guardScreen(terminal.stdin);
  const repaint = () => look.shown && screen.repaint(look.shown.lines, look.shown.cursor);
  paintFirst(tui, look, screen.paint);
  const { unmount } = await showApp(tui, look);
  screen.drawnBy(unmount);
  let isEnded = false;
  const caught = (name: NodeJS.Signals) => {
    const code = name === "SIGHUP" ? 129 : 143;
    isEnded = true;
    const text = "stopping; once more to leave at once";
    tui.dispatch({ type: "say", entry: { kind: "notice", level: "info", text } });
    left.resolve(code);
    if (leaves++ > 0) impatient.resolve(code);
  };
  const interrupted = () => tui.press({ name: "interrupt" }, { runIds: [], page: 1, most: 0 });
  process.on("SIGTERM", caught).on("SIGHUP", caught).on("SIGINT", interrupted).on("SIGCONT", repaint);
  try {
    const { openEngine } = await import("./work/engine.ts");
    const opened = await openEngine(options, terminal, tui);
    engine.resolve(opened);
    const code = await left.promise;
    const hurried = await Promise.race([opened.close(isEnded ? "leave" : "end"), impatient.promise]);
    isHurried = hurried !== undefined;
    return hurried ?? code;
  } finally {
    tui.stop();
    screen.restore();
    process.off("SIGTERM", caught).off("SIGHUP", caught).off("SIGINT", interrupted).off("SIGCONT", repaint);
    sayFarewell(tui, terminal);
    // What did not settle in time would keep the process alive.
    if (isHurried) process.exit(await impatient.promise);
  }
}

const LEFT_AT_ONCE = 130;

/** Text without a screen: asked for, or all that the terminal can do. */
function isLinear({ linear, screenReader }: TuiOptions, env: NodeJS.ProcessEnv): boolean {
  return linear === true || screenReader === true || env.RETINUE_LINEAR === "1" || env.TERM === "dumb";
}

function lookOf(env: NodeJS.ProcessEnv): Look {
  const coloured = hasColour(env);
  const unicode = hasUnicode(env);
  return { paint: createPaint(coloured, unicode), treePaint: createTreePaint(coloured), unicode };
}

/** The frame with the input, before the library that keeps it up to date is there. */
function paintFirst(tui: Tui, { paint }: Look, write: ReturnType<typeof guardScreen>["paint"]): void {
  const { columns = 80, rows = 24 } = process.stdout;
  const { state, nowMs } = tui.snapshot();
  const { lines, cursor } = drawScreen(state, {
    columns,
    rows,
    nowMs,
    paint,
    drawTree: () => ({ lines: [], runIds: [] }),
  });
  write(lines, cursor);
}

async function showApp(tui: Tui, look: Look): Promise<{ unmount(): void }> {
  const [{ render }, { createElement }, { App }] = await Promise.all([
    import("ink"),
    import("react"),
    import("./app.ts"),
  ]);
  // What was painted first is painted over from the top.
  process.stdout.write("\u001b[H\u001b[J");
  return render(createElement(App, { tui, look }), {
    exitOnCtrlC: false,
    patchConsole: true,
    interactive: true,
    alternateScreen: true,
    incrementalRendering: true,
  });
}
