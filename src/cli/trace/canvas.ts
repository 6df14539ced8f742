import type { Terminal } from "../terminal.ts";
import { type Glyphs, glyphsFor, hasUnicode } from "../tree/glyphs.ts";
import { createPaint, hasColour, type Paint } from "../tree/paint.ts";

/** What a trace is drawn on: how wide it is, and what it can show. */
export type Canvas = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
  readonly bars: Bars;
};

/** The signs of a waterfall. */
export type Bars = {
  /** The run itself is at work; only its sub-agents are, or it waits. */
  readonly busy: string;
  readonly idle: string;
  /** At work for less than one column shows. */
  readonly brief: string;
  readonly gap: string;
  readonly parallel: string;
};

const UNICODE_BARS: Bars = { busy: "█", idle: "─", brief: "▌", gap: "┊", parallel: "∥" };
const ASCII_BARS: Bars = { busy: "#", idle: "-", brief: "|", gap: ":", parallel: "=" };

const LEAST_WIDTH = 60;
const WIDTH_ELSEWHERE = 120;

/** The canvas of results: a terminal as wide as it is, and anything else as wide as people read. */
export function canvasFor({ env, columns }: Pick<Terminal, "env" | "columns">): Canvas {
  const isTerminal = columns !== null;
  const wanted = columns ?? (Number(env.COLUMNS) || WIDTH_ELSEWHERE);
  return createCanvas({
    width: wanted,
    unicode: !isTerminal || hasUnicode(env),
    coloured: isTerminal && hasColour(env),
  });
}

/** A canvas by what it can show. */
export function createCanvas(can: { width: number; unicode?: boolean; coloured?: boolean }): Canvas {
  const { unicode = true, coloured = false } = can;
  return {
    width: Math.max(LEAST_WIDTH, Math.trunc(can.width)),
    glyphs: unicode ? glyphsFor(true) : withOwnSigns(glyphsFor(false)),
    paint: createPaint(coloured),
    bars: unicode ? UNICODE_BARS : ASCII_BARS,
  };
}

/** Signs that we put into texts ourselves have others to stand for them. */
function withOwnSigns(glyphs: Glyphs): Glyphs {
  const signs = { "·": glyphs.dot, "→": glyphs.arrow, "…": glyphs.cut, "×": "x" };
  const replace = (text: string) =>
    Object.entries(signs).reduce((given, [sign, other]) => given.replaceAll(sign, other), text);
  return { ...glyphs, text: (text) => glyphs.text(replace(text)) };
}
