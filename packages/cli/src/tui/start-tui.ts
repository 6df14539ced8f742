import { writeSync } from "node:fs";
import { basename, resolve } from "node:path";
import { RetinueError } from "@retinue/core/schema/error";
import type { Cli } from "../terminal.ts";
import { createPaint, hasColour, hasUnicode } from "../tree/canvas.ts";
import type { Look } from "./app.ts";
import { type DrawnScreen, drawScreen } from "./draw-screen.ts";
import type { Engine, TuiOptions } from "./engine.ts";
import { createSpanPainter } from "./spans.ts";
import { createTui, sayFarewell, type Tui } from "./tui.ts";
import { createState, type Effect } from "./tui-state.ts";

/** `retinue` on a terminal: the conversation, until the person leaves. Gives the exit code. */
export async function startTui(cli: Cli<TuiOptions>): Promise<number> {
  if (isLinear(cli)) {
    const { talkLinearly } = await import("./talk-linearly.ts");
    return talkLinearly(cli);
  }
  if (!cli.hasScreen)
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
  const project = basename(resolve(cli.cwd, cli.options.cwd ?? "."));
  const tui = createTui(createState(project, cli.options.permissionMode ?? "default"), perform);
  const look = createLook(cli.env);
  const screen = guardScreen(cli.stdin);
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
    const { openEngine } = await import("./engine.ts");
    const opened = await openEngine(cli, tui);
    engine.resolve(opened);
    const code = await left.promise;
    const hurried = await Promise.race([opened.close(isEnded ? "leave" : "end"), impatient.promise]);
    isHurried = hurried !== undefined;
    return hurried ?? code;
  } finally {
    tui.stop();
    screen.restore();
    process.off("SIGTERM", caught).off("SIGHUP", caught).off("SIGINT", interrupted).off("SIGCONT", repaint);
    sayFarewell(tui, cli);
    // What did not settle in time would keep the process alive.
    if (isHurried) process.exit(await impatient.promise);
  }
}

const LEFT_AT_ONCE = 130;

/** Text without a screen: asked for, or all that the terminal can do. */
function isLinear({ options, env }: Cli<TuiOptions>): boolean {
  const { linear, screenReader } = options;
  return linear === true || screenReader === true || env.RETINUE_LINEAR === "1" || env.TERM === "dumb";
}

function createLook(env: NodeJS.ProcessEnv): Look {
  const coloured = hasColour(env);
  const unicode = hasUnicode(env);
  return { paint: createSpanPainter(coloured, unicode), treePaint: createPaint(coloured), unicode };
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

/** Leaves the terminal as it was found: no bracketed paste, cursor shown, styles off, the first screen. */
const RESTORE = "\u001b[?2004l\u001b[?25h\u001b[0m\u001b[?1049l";
const BLANK = "\u001b[2J\u001b[H";
const ENTER = `\u001b[?1049h${BLANK}`;

/** Takes the second screen, and gives it back whatever ends the process. */
export function guardScreen(stdin: NodeJS.ReadStream, fd = 1) {
  let isOurs = true;
  let stopDrawing = () => {};
  /** Gives the terminal back; harmless if called again. */
  const restore = (): void => {
    if (!isOurs) return;
    isOurs = false;
    process.off("exit", restore).off("uncaughtExceptionMonitor", restore);
    try {
      stopDrawing();
      if (stdin.isTTY) stdin.setRawMode(false);
      writeSync(fd, RESTORE);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
  };
  process.on("exit", restore).on("uncaughtExceptionMonitor", restore);
  stdin.setRawMode(true);
  return {
    /** Shows lines before anything else is loaded. */
    paint(lines: readonly string[], cursor: DrawnScreen["cursor"]): void {
      const place = cursor ? `\u001b[${cursor.y + 1};${cursor.x + 1}H` : "";
      writeSync(fd, ENTER + lines.join("\r\n") + place);
    },
    /** Shows the lines anew over whatever others wrote, and takes the keys again if a stop gave them back. */
    repaint(lines: readonly string[], cursor: DrawnScreen["cursor"]): void {
      if (!isOurs) return;
      // Without a place of its own the cursor waits in the last row, where the next frame looks for it.
      const { x, y } = cursor ?? { x: 0, y: lines.length - 1 };
      try {
        stdin.setRawMode(false);
        stdin.setRawMode(true);
        writeSync(fd, `${BLANK}${lines.join("\r\n")}\u001b[${y + 1};${x + 1}H`);
      } catch {
        // The terminal is gone, which ends the program in its own way.
      }
    },
    /** What has to end before the terminal is given back, or it would draw on it afterwards. */
    drawnBy(stop: () => void): void {
      stopDrawing = stop;
    },
    restore,
  };
}
