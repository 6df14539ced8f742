/** What kind of file a path names, as far as rules care. */
export type FileKind = "source" | "test" | "script" | "prose" | "generated";

const TEST =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|fixtures?|__mocks__)\/|\.(?:test|spec)\.\w+$|(?:^|\/)test_[^/]+\.py$|_(?:test|spec)\.(?:py|go|rs|rb|exs?)$|Tests?\.(?:java|kt|cs)$/i;

const GENERATED =
  /(?:^|\/)(?:dist|build|vendor|node_modules|generated|__snapshots__)\/|(?:^|\/)[^/]*(?:-lock\.\w+|\.lock|\.min\.\w+|\.map|\.snap)$/i;

const SCRIPT = /(?:^|\/)(?:scripts?|bin|examples?|bench(?:marks?)?|tools?|cli)\//i;

const CODE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|scala|cs|rb|php|swift|c|cc|cpp|h|hpp|vue|svelte|ex|exs|dart|sh)$/i;

/** What kind of file it is; everything that is not code is prose. */
export function classifyFile(path: string): FileKind {
  if (GENERATED.test(path)) return "generated";
  if (!CODE.test(path)) return "prose";
  if (TEST.test(path)) return "test";
  return SCRIPT.test(path) ? "script" : "source";
}

/** Whether a path has an ending, as files have and folders rarely do. */
export function isFile(path: string): boolean {
  return /\.\w+$/.test(path);
}

/** Whether a file is Python, whose comments and blocks are written in another way. */
export function isPython(path: string): boolean {
  return /\.py$/i.test(path);
}

const STRING = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/g;
const REGEX = /(?<=(?:^|[=(,:[!&|?{};]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+\/[a-z]*/g;

/** Lines written by hand are not longer; of longer ones the beginning is enough. */
const MAX_LINE = 1_000;

/** Splits a line into code, with the content of strings left out, and comment. */
export function splitLine(line: string, path: string): { code: string; comment: string } {
  const text = line.slice(0, MAX_LINE);
  const plain = text.replace(STRING, '""').replace(REGEX, "/ /");
  if (/^\s*(?:\*|\/\*)/.test(plain)) return { code: "", comment: text };
  const at = isPython(path) ? plain.indexOf("#") : plain.search(/\/\/|\/\*/);
  const mark = plain[at] === "#" ? "#" : plain.slice(at, at + 2);
  return at < 0
    ? { code: plain, comment: "" }
    : { code: plain.slice(0, at), comment: text.slice(text.lastIndexOf(mark)) };
}
