import { spawn } from "node:child_process";
import { lstat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { explainHardLink } from "@retinue/core/files/hard-links";
import { compileSegments, expandBraces, matchesPathGlob } from "@retinue/core/rights/patterns/path-glob";
import type { ToolContext } from "@retinue/core/tools/tool";
import { type FilePlace, findFilePlace, toReadTarget } from "./file-place.ts";

/** One line of ripgrep's output: a file, and what follows its name. */
export type Found = { path: string; rest: string };

/** How a search ended. `cut` if it had more to say than was asked for. */
export type Search = { found: Found[]; paths: string[]; hidden: number; cut: boolean; fault?: string };

/** What to search for, and how much of it to keep. */
type SearchRequest = {
  args: readonly string[];
  /** Only files whose path, relative to the place that is searched, this accepts. */
  accepts?: ((path: string) => boolean) | undefined;
  max: number;
};

const MAX_SECONDS = 30;
const MAX_FAULT_CHARS = 2_000;
const MAX_LINE_CHARS = 100_000;
const MAX_GATHERED = 100_000;
const MAX_GATHERED_CHARS = 32_000_000;
/** No configuration files, no links followed; ignore files count in every folder. */
const ALWAYS = "--no-config --color=never --no-messages --no-require-git --no-ignore-global --null".split(
  " ",
);
const NEVER_SEARCHED = ["--glob=!**/node_modules", "--glob=!**/.git"];

/** Runs ripgrep on the place that was judged. What the run has no right to see is left out and counted. */
export async function searchFiles(request: SearchRequest, context: ToolContext): Promise<Search> {
  const place = findFilePlace(context);
  await lstat(place.path);
  const search: Search = { found: [], paths: [], hidden: 0, cut: false };
  const verdicts = new Map<string, Promise<boolean>>();
  const visible = (path: string) => {
    const known = verdicts.get(path) ?? mayShow(path, place, context);
    verdicts.set(path, known);
    return known;
  };
  for (const found of await gather(request, place, context.signal, search)) {
    if (!(await visible(found.path))) continue;
    if (search.found.length >= request.max) {
      search.cut = true;
      break;
    }
    search.found.push({ ...found, path: nameFound(found.path, place, context) });
  }
  for (const verdict of verdicts.values()) if (!(await verdict)) search.hidden++;
  search.paths = search.found.map(({ path }) => path);
  return search;
}

/** What ripgrep finds, by path. It searches on all cores in no order, so what is shown first is known only at the end. */
async function gather(
  { args, accepts }: SearchRequest,
  place: FilePlace,
  signal: AbortSignal,
  search: Search,
): Promise<Found[]> {
  const gathered: Found[] = [];
  let chars = 0;
  for await (const batch of runRipgrep(args, place, signal, search)) {
    for (const found of batch) {
      if (accepts && !accepts(relative(place.path, join(place.root, found.path)) || found.path)) continue;
      gathered.push(found);
      chars += found.rest.length;
    }
    if (gathered.length >= MAX_GATHERED || chars >= MAX_GATHERED_CHARS) {
      search.cut = true;
      break;
    }
  }
  return gathered.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** A test for paths: a glob without a slash is about names at any depth. Undefined if it is too wide to spell out. */
export function compileGlob(glob: string): ((path: string) => boolean) | undefined {
  const choices = expandBraces(glob.replace(/^\.?\//, ""));
  const globs = choices?.map((each) => {
    const segments = each.split("/").filter((segment) => segment !== "" && segment !== ".");
    return compileSegments(each.includes("/") ? segments : ["**", ...segments]);
  });
  return globs && ((path) => globs.some((each) => matchesPathGlob(each, path.split(sep))));
}

/** What was left out, for the end of a result. */
export function describeLeftOut({ hidden, cut }: Pick<Search, "hidden" | "cut">, what: string): string[] {
  return [
    ...(cut ? [`(there are more ${what}; narrow the search)`] : []),
    ...(hidden > 0 ? [describeHidden(hidden)] : []),
  ];
}

async function* runRipgrep(
  args: readonly string[],
  place: FilePlace,
  signal: AbortSignal,
  search: Search,
): AsyncGenerator<Found[]> {
  const { rgPath } = await import("@vscode/ripgrep");
  const target = relative(place.root, place.path) || ".";
  const stop = AbortSignal.any([signal, AbortSignal.timeout(MAX_SECONDS * 1_000)]);
  const child = spawn(rgPath, [...ALWAYS, ...NEVER_SEARCHED, ...args, "--", target], {
    cwd: place.root,
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
    signal: stop,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  ended.catch(() => {});
  let fault = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    fault = `${fault}${text}`.slice(0, MAX_FAULT_CHARS);
  });
  // A name may hold a line break, so what is found begins where the last one ended and its name goes up to the NUL.
  const record = args.some((arg) => arg.startsWith("--files")) ? /[^\0]*\0/gy : /[^\0]*\0[^\n]*\n/gy;
  let rest = "";
  try {
    for await (const text of child.stdout.setEncoding("utf8")) {
      const all = `${rest}${text}`;
      const pieces = all.match(record) ?? [];
      rest = all.slice(pieces.reduce((sum, piece) => sum + piece.length, 0)).slice(0, MAX_LINE_CHARS);
      yield pieces.map(readRecord);
    }
    if ((await ended) === 2) search.fault = fault.trim() || "ripgrep could not search";
  } catch (thrown) {
    if (signal.aborted || !stop.aborted) throw thrown;
    throw new Error(`the search took longer than ${MAX_SECONDS} s; narrow it`);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Notices of ripgrep about binary files; they are among its results, without a NUL. */
const NOTICES =
  /^(?:[^\0\n]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found "\\0" byte around offset \d+\)\n)+/;

function readRecord(piece: string): Found {
  const line = piece.replace(NOTICES, "");
  const end = line.indexOf("\0");
  return { path: line.slice(0, end).replace(/^\.\//, ""), rest: line.slice(end + 1).replace(/\n$/, "") };
}

/** The same files that `read` would open: rights as they are, and no second names for what lies outside or is denied. */
async function mayShow(path: string, place: FilePlace, context: ToolContext): Promise<boolean> {
  const full = join(place.root, path);
  const stats = await lstat(full).catch(() => null);
  const mayRead = (each: string) => context.maySee(toReadTarget(each, place, context));
  if (!stats?.isFile() || !mayRead(full)) return false;
  if (stats.nlink === 1) return true;
  const file = { root: place.root, path: full, links: stats.nlink, mode: "read", mayRead } as const;
  return (await explainHardLink(file)) === undefined;
}

/** A path as the other tools take it. */
function nameFound(path: string, place: FilePlace, { projectDir }: ToolContext): string {
  const slashed = path.replaceAll(sep, "/");
  return place.root === projectDir ? slashed : `workspace:${slashed}`;
}

/** What is said of files that may not be shown. */
export function describeHidden(count: number): string {
  return `(${count} files left out: there is no right to read them)`;
}
