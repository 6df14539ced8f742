import { dirname, join, resolve } from "node:path";
import { listInside, readTextInside } from "@retinue/core/files/open-inside";
import { parseObject, readObject } from "@retinue/core/schema/json-object";
import type { Failure, TestReport } from "./test-report.ts";

/** The test runners that this tool knows how to start and to read. */
export const RUNNERS = [
  ...(["vitest", "jest", "mocha", "node", "bun", "deno", "npm"] as const),
  ...(["pytest", "unittest", "go", "cargo"] as const),
] as const;

/** One of them. */
export type RunnerName = (typeof RUNNERS)[number];

/** A runner that the project seems to use, and how that shows. */
export type Candidate = {
  readonly runner: RunnerName;
  readonly why: string;
  /** Nothing names it; there are only files that it could run. */
  readonly guessed?: true;
};

const MAX_BYTES = 1024 * 1024;
const TEST_FOLDERS = ["", "test", "tests", "src", "__tests__"];

/** What of a project tells its runners: the texts of its manifests, and the names in the folders where tests lie. */
export type ProjectSigns = {
  readonly files: ReadonlyMap<string, string>;
  /** Paths relative to the project. */
  readonly names: readonly string[];
};

const MANIFESTS = [
  "package.json",
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "go.mod",
];

/** Reads the signs of a project. */
async function readSigns(projectDir: string): Promise<ProjectSigns> {
  const files = new Map<string, string>();
  for (const name of MANIFESTS) {
    const text = await readProjectFile(projectDir, name);
    if (text !== undefined) files.set(name, text);
  }
  const names: string[] = [];
  for (const folder of TEST_FOLDERS) {
    const entries = await listInside(projectDir, join(projectDir, folder)).catch(() => []);
    names.push(
      ...entries.filter((entry) => !entry.isFolder).map(({ name }) => (folder ? `${folder}/${name}` : name)),
    );
  }
  return { files, names };
}

/** A small file of the project; undefined if it is not there, too large, or reached through a link. */
export function readProjectFile(
  projectDir: string,
  path: string,
  maxBytes = MAX_BYTES,
): Promise<string | undefined> {
  return readTextInside(projectDir, resolve(projectDir, path), maxBytes);
}

/** The runners that a project uses, the likeliest of each language first. */
export function detectRunners(signs: ProjectSigns): Candidate[] {
  const found = [...scriptRunners(signs), ...pythonRunners(signs)];
  if (signs.files.has("go.mod")) found.push({ runner: "go", why: "there is a go.mod" });
  if (signs.names.includes("Cargo.toml")) found.push({ runner: "cargo", why: "there is a Cargo.toml" });
  return found;
}

/** The one to use for a file, by its language; the first if that tells nothing. */
export function chooseRunner(
  candidates: readonly Candidate[],
  path: string | undefined,
): Candidate | undefined {
  const language = listRunnersFor(path ?? "");
  return candidates.find(({ runner }) => language?.includes(runner)) ?? candidates[0];
}

function listRunnersFor(path: string): readonly RunnerName[] | undefined {
  if (path.endsWith(".py")) return ["pytest", "unittest"];
  if (path.endsWith(".go")) return ["go"];
  if (path.endsWith(".rs")) return ["cargo"];
  return /\.[cm]?[jt]sx?$/.test(path) ? ["vitest", "jest", "mocha", "node", "bun", "deno", "npm"] : undefined;
}

const IN_SCRIPT: readonly (readonly [RunnerName, RegExp])[] = [
  ["vitest", /(?:^|[\s/&;])vitest\b/],
  ["jest", /(?:^|[\s/&;])jest\b/],
  ["mocha", /(?:^|[\s/&;])mocha\b/],
  ["bun", /(?:^|[\s&;])bun test\b/],
  ["deno", /(?:^|[\s&;])deno test\b/],
  ["node", /(?:^|[\s&;])node\b[^&;|]*\s--test\b/],
];
const CONFIGS: readonly (readonly [RunnerName, RegExp])[] = [
  ["vitest", /^vitest\.(config|workspace)\.[cm]?[jt]s$/],
  ["jest", /^jest\.config\.([cm]?[jt]s|json)$/],
  ["mocha", /^\.mocharc\.([cm]?js|jsonc?|ya?ml)$/],
  ["deno", /^deno\.jsonc?$/],
  ["bun", /^bun\.lockb?$/],
];

function scriptRunners({ files, names }: ProjectSigns): Candidate[] {
  const manifest = parseObject(files.get("package.json") ?? "");
  const script = String(readObject(manifest?.scripts).test ?? "");
  const named = IN_SCRIPT.find(([, pattern]) => pattern.test(script));
  if (named) return [{ runner: named[0], why: "the test script of package.json calls it" }];
  for (const [runner, pattern] of CONFIGS) {
    const config = names.find((name) => pattern.test(name));
    if (config) return [{ runner, why: `there is a ${config}` }];
  }
  const needed = { ...readObject(manifest?.dependencies), ...readObject(manifest?.devDependencies) };
  for (const runner of ["vitest", "jest", "mocha"] as const) {
    if (Object.hasOwn(needed, runner)) return [{ runner, why: "package.json depends on it" }];
  }
  if (script && !script.includes("no test specified"))
    return [{ runner: "npm", why: `package.json has the test script '${script}'` }];
  const test =
    manifest && names.find((name) => /(^|[/.-])(test|spec)\.[cm]?[jt]s$|^test\/[^/]+\.[cm]?js$/.test(name));
  return test ? [{ runner: "node", why: `there is ${test} and no other runner`, guessed: true }] : [];
}

function pythonRunners({ files, names }: ProjectSigns): Candidate[] {
  const sign = names.find((name) => /^(pytest\.ini|(tests?\/)?conftest\.py)$/.test(name));
  if (sign) return [{ runner: "pytest", why: `there is a ${sign}` }];
  const named = ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"].find(
    (name) => /\bpytest\b/.test(files.get(name) ?? ""),
  );
  if (named) return [{ runner: "pytest", why: `${named} names it` }];
  const test = names.find((name) => /(^|\/)test_[^/]*\.py$|_test\.py$/.test(name));
  return test
    ? [{ runner: "unittest", why: `there is ${test} and nothing names pytest`, guessed: true }]
    : [];
}

/** A part of a project with tests of its own; `folder` is relative to the project, and empty for the project itself. */
type TestPackage = { readonly folder: string; readonly candidates: readonly Candidate[] };

/**
 * The package that a path belongs to: the nearest folder around it that is a package and says how it is tested, else the
 * project.
 */
export async function findPackage(projectDir: string, path: TestedPath | undefined): Promise<TestPackage> {
  for (let folder = findStartFolder(path); folder !== ""; folder = findParent(folder)) {
    const dir = join(projectDir, folder);
    if (!(await isPackage(dir))) continue;
    const candidates = detectRunners(await readSigns(dir)).filter(({ guessed }) => !guessed);
    if (candidates.length > 0) return { folder, candidates };
  }
  return { folder: "", candidates: detectRunners(await readSigns(projectDir)) };
}

/** A file or folder of the project. */
export type TestedPath = { readonly relative: string; readonly isFolder: boolean };

/** The same path from a package's folder; undefined for the package as a whole. */
export function rebasePath(path: TestedPath | undefined, folder: string): TestedPath | undefined {
  if (!path || folder === "") return path;
  const relative = path.relative.slice(folder.length + 1);
  return relative === "" ? undefined : { ...path, relative };
}

/** A report of a runner that names files from the package's folder, with names from the project's. */
export function rebaseReport(report: TestReport | null, folder: string): TestReport | null {
  if (!report || folder === "") return report;
  const named = (failure: Failure): Failure => ({
    ...failure,
    ...(failure.file !== undefined && { file: `${folder}/${failure.file}` }),
    ...(failure.frame !== undefined && { frame: `${folder}/${failure.frame}` }),
  });
  return { ...report, failures: report.failures.map(named), broken: report.broken.map(named) };
}

/** A package.json without a name only says how its folder is read. */
async function isPackage(dir: string): Promise<boolean> {
  if (parseObject((await readProjectFile(dir, "package.json")) ?? "")?.name !== undefined) return true;
  for (const name of ["pyproject.toml", "go.mod", "Cargo.toml"])
    if ((await readProjectFile(dir, name)) !== undefined) return true;
  return false;
}

function findStartFolder(path: TestedPath | undefined): string {
  if (!path) return "";
  return path.isFolder ? path.relative : findParent(path.relative);
}

function findParent(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}
