import { escapePattern } from "../symbols/code-symbol.ts";
/** A test that failed, or a file that could not even be loaded. */
export type Failure = {
  readonly name: string;
  /** Relative to the project. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly message: string;
  /** The first line of the stack that lies in the project, if it is another place than file and line. */
  readonly frame?: string | undefined;
};

/** What a runner told of its tests; only what it really said. */
export type TestReport = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** Files or packages whose tests did not run at all. */
  readonly broken: readonly Failure[];
};

/** A place in the project. */
export type Frame = { readonly file: string; readonly line: number; readonly text: string };

const MAX_MESSAGE_CHARS = 1_500;

/** Places of the project in a stack trace, innermost first as it is written; installed packages are not the project. */
export function findProjectFrames(text: string, projectDir: string): Frame[] {
  const root = escapePattern(projectDir);
  const place = new RegExp(`(?:file://)?${root}/([^\\n():"]+?)(?::(\\d+)(?::\\d+)?|", line (\\d+))`, "g");
  return [...text.matchAll(place)].flatMap(([, file = "", jsLine, pyLine]) => {
    if (/(^|\/)(node_modules|site-packages|\.venv|venv)\//.test(file)) return [];
    const line = Number(jsLine ?? pyLine);
    return [{ file, line, text: `${file}:${line}` }];
  });
}

/** Where a failure is: the line in the test's own file, and the innermost line of the project if that is elsewhere. */
export function placeFailure(
  frames: readonly Frame[],
  testFile: string | undefined,
): Pick<Failure, "file" | "line" | "frame"> {
  const own = frames.find((frame) => frame.file === testFile) ?? (testFile ? undefined : frames[0]);
  const first = frames[0];
  const isElsewhere = first && !(own && first.text === own.text);
  return {
    file: testFile ?? own?.file,
    ...(own && { line: own.line }),
    ...(isElsewhere && { frame: first.text }),
  };
}

/** The message without the stack below it. */
export function cutStack(text: string): string {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) => index > 0 && /^\s+at .+/.test(line));
  return shortenMessage(lines.slice(0, end < 0 ? lines.length : end).join("\n"));
}

/** A message of a length that a reader takes in. */
export function shortenMessage(text: string): string {
  const clean = text.trim();
  return clean.length > MAX_MESSAGE_CHARS ? `${clean.slice(0, MAX_MESSAGE_CHARS)}…` : clean;
}

/** A path as the project names it; unchanged if it lies elsewhere. */
export function toProjectPath(path: string, projectDir: string): string {
  const plain = path.replace(/^file:\/\//, "");
  return plain.startsWith(`${projectDir}/`) ? plain.slice(projectDir.length + 1) : plain;
}
