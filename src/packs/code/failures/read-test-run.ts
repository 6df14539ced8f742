/** A place in a file of the project. */
export type Place = { path: string; at?: number };

/** A test that failed, or a file whose tests could not be loaded. */
export type TestFailure = {
  name: string;
  loaded: boolean;
  path?: string;
  at?: number;
  message: string;
  /** The innermost line of the project in the trace, if it is another one. */
  frame?: Place;
};

/** What the tool `test` told of a run; without counts, nothing is known of its tests. */
export type TestRun = {
  runner: string;
  command: string;
  counts?: { run: number; passed: number; failed: number; skipped: number };
  failures: readonly TestFailure[];
  notes: readonly string[];
};

const COUNTS = /^tests: (\d+) run, (\d+) passed, (\d+) failed, (\d+) skipped/m;
const BLOCK = /^(FAILED|NOT LOADED) (.+)\n((?: {2}(?:at|in|\|).*(?:\n|$))*)/gm;

/** Reads what `test` answered, also where it is quoted in a report. */
export function readTestRun(text: string): TestRun {
  const [, run, passed, failed, skipped] = COUNTS.exec(text)?.map(Number) ?? [];
  const known = run !== undefined && passed !== undefined && failed !== undefined && skipped !== undefined;
  return {
    runner: /^runner: (\S+)/m.exec(text)?.[1] ?? "",
    command: /^command: (.*)$/m.exec(text)?.[1] ?? "",
    ...(known && { counts: { run, passed, failed, skipped } }),
    failures: [...text.matchAll(BLOCK)].map(([, word, name = "", body = ""]) => ({
      name,
      loaded: word === "FAILED",
      ...placeIn(/^ {2}at (.+)$/m.exec(body)?.[1]),
      message: [...body.matchAll(/^ {2}\| ?(.*)$/gm)].map(([, line = ""]) => line).join("\n"),
      ...frameIn(/^ {2}in (.+)$/m.exec(body)?.[1]),
    })),
    notes: [...text.matchAll(/^note: (.*)$/gm)].map(([, note = ""]) => note),
  };
}

function placeIn(text: string | undefined): Partial<Place> {
  if (text === undefined) return {};
  const [, path = text, at] = /^(.*):(\d+)$/.exec(text) ?? [];
  return { path, ...(at !== undefined && { at: Number(at) }) };
}

function frameIn(text: string | undefined): { frame?: Place } {
  const { path, at } = placeIn(text);
  return path === undefined ? {} : { frame: { path, ...(at !== undefined && { at }) } };
}
