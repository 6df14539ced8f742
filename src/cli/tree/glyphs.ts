import type { NodeStatus } from "./run-node.ts";
import { steady } from "./text-width.ts";

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
  text: steady,
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
export function glyphsFor(unicode: boolean): Glyphs {
  return unicode ? UNICODE : ASCII;
}
