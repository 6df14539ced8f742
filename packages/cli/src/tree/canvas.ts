import { styleText } from "node:util";
import type { Terminal } from "../terminal.ts";
import { dropSelectors } from "../text-layout.ts";
import type { NodeStatus } from "./run-tree.ts";

/** What is drawn on: how wide it is, and what it can show. */
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
export function createTerminalCanvas({ env, columns }: Pick<Terminal, "env" | "columns">): Canvas {
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
    glyphs: unicode ? chooseGlyphs(true) : withOwnSigns(chooseGlyphs(false)),
    paint: createPaint(coloured),
    bars: unicode ? UNICODE_BARS : ASCII_BARS,
  };
}

/** Signs that we put into texts ourselves are replaced by ASCII ones. */
function withOwnSigns(glyphs: Glyphs): Glyphs {
  const signs = { "·": glyphs.dot, "→": glyphs.arrow, "…": glyphs.cut, "×": "x" };
  const replace = (text: string) =>
    Object.entries(signs).reduce((given, [sign, other]) => given.replaceAll(sign, other), text);
  return { ...glyphs, text: (text) => glyphs.text(replace(text)) };
}

/** The signs a tree is drawn with. None of them ends with a selector that terminals give different widths. */
export type Glyphs = {
  readonly branch: string;
  readonly lastBranch: string;
  readonly trunk: string;
  readonly gap: string;
  readonly cut: string;
  readonly dot: string;
  readonly arrow: string;
  readonly status: Readonly<Record<NodeStatus, string>>;
  /** Of a text that is not ours: what the terminal can show. */
  text(text: string): string;
};

const UNICODE: Glyphs = {
  branch: "├─ ",
  lastBranch: "└─ ",
  trunk: "│  ",
  gap: "   ",
  cut: "…",
  dot: "·",
  arrow: "→",
  status: {
    pending: "⏳",
    running: "⏳",
    waiting: "⏸",
    completed: "✅",
    partial: "⚠",
    failed: "❌",
    timeout: "⏱",
    cancelled: "⚠",
  },
  text: dropSelectors,
};

const ASCII: Glyphs = {
  branch: "|- ",
  lastBranch: "`- ",
  trunk: "|  ",
  gap: "   ",
  cut: "...",
  dot: "-",
  arrow: ">",
  status: {
    pending: ".",
    running: "*",
    waiting: "=",
    completed: "+",
    partial: "!",
    failed: "x",
    timeout: "x",
    cancelled: "!",
  },
  text: (text) => text.replaceAll(/[^\x20-\x7e]+/g, "?"),
};

/** Whether the terminal shows more than ASCII, by the locale; systems without locales show it. */
export function hasUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  if (locale === "") return platform === "win32" || platform === "darwin";
  return /utf-?8/i.test(locale);
}

/** The signs for a terminal. */
export function chooseGlyphs(unicode: boolean): Glyphs {
  return unicode ? UNICODE : ASCII;
}

/** Colours by what they mean; each returns the text as it is where there are none. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "good" | "bad" | "warn" | "busy", (text: string) => string>
>;

type Format = Exclude<Parameters<typeof styleText>[0], readonly unknown[]>;

/** Whether to colour terminal output; honours `NO_COLOR` and dumb terminals. */
export function hasColour(env: NodeJS.ProcessEnv): boolean {
  return !env.NO_COLOR && env.TERM !== "dumb";
}

/** Creates the colours, or none. */
export function createPaint(coloured: boolean): Paint {
  const painter = (format: Format) => (text: string) =>
    coloured && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: painter("bold"),
    dim: painter("dim"),
    good: painter("green"),
    bad: painter("red"),
    warn: painter("yellow"),
    busy: painter("cyan"),
  };
}

/** The colour of a status; one that says nothing yet has none. */
export function chooseColour(status: string | undefined, paint: Paint): Paint["dim"] | undefined {
  if (status === "running") return paint.busy;
  if (status === "completed") return paint.good;
  if (status === "failed" || status === "timeout") return paint.bad;
  return status === "partial" || status === "cancelled" ? paint.warn : undefined;
}

/** One row of a tree: what it shows, the guides before it, and the guides before whatever belongs to it below. */
export type GuidedRow<Node> = {
  readonly node: Node;
  readonly guides: string;
  readonly rest: string;
  readonly hasBelow: boolean;
};

/**
 * The rows of a tree from top to bottom, with the guides that every drawing of a tree has. It keeps a stack and does not
 * recurse, because runs may be nested deeply.
 */
export function* walkTree<Node>(
  roots: readonly Node[],
  listBelow: (node: Node) => readonly Node[],
  glyphs: Pick<Glyphs, "branch" | "lastBranch" | "trunk" | "gap">,
): Generator<GuidedRow<Node>> {
  const left = roots.map((node) => ({ node, guides: "", rest: "" })).reverse();
  for (let line = left.pop(); line; line = left.pop()) {
    const { node, guides, rest } = line;
    const below = listBelow(node);
    yield { node, guides, rest, hasBelow: below.length > 0 };
    const placed = below.map((child, index) => {
      const isLast = index === below.length - 1;
      return {
        node: child,
        guides: rest + (isLast ? glyphs.lastBranch : glyphs.branch),
        rest: rest + (isLast ? glyphs.gap : glyphs.trunk),
      };
    });
    for (const each of placed.reverse()) left.push(each);
  }
}
