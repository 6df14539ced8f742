import { join } from "node:path";
import type { TestedPath } from "./find-package.ts";
import type { TestReport } from "./test-report.ts";

/** What is to be tested. */
export type TestRequest = {
  readonly projectDir: string;
  /** The folder that is tested, relative to the project; empty for all of it. */
  readonly folder?: string;
  /** A folder that the runner may write and the host can read. */
  readonly reportDir: string;
  /** From the tested folder. */
  readonly path?: TestedPath | undefined;
  readonly filter?: string | undefined;
  /** Whether the runner may write into the tested folder. */
  readonly mayWrite: (relative: string) => boolean;
};

/** What a runner left behind. */
export type RunnerOutput = {
  readonly report: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
};

/** A command, and how its output is read. */
export type TestCommand = {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly reportFile?: string;
  readonly notes?: readonly string[];
  readonly parse: (output: RunnerOutput) => TestReport | null;
};

/** The folder that is tested. */
export function testedDir({ projectDir, folder = "" }: TestRequest): string {
  return join(projectDir, folder);
}

/** Node takes its arguments for patterns, and brackets in names of files are not rare. */
export function escapeGlob(text: string): string {
  return text.replace(/[[\]{}()*?]/g, "[$&]");
}

/** The option for a filter, if there is one. */
export function named({ filter }: TestRequest, option: (filter: string) => string): string[] {
  return filter === undefined ? [] : [option(filter)];
}

/** Never an option, whatever it is called. */
export function pathOf({ path }: TestRequest): string[] {
  return path === undefined ? [] : [path.relative.startsWith("-") ? `./${path.relative}` : path.relative];
}

/** A text as a regular expression that matches just it. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
