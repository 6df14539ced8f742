import { dirname, join } from "node:path";
import { type Candidate, detectRunners, readProjectFile, readSigns } from "./detect-runner.ts";
import { type Failure, parseObject, type TestReport } from "./test-report.ts";

/** A part of a project with tests of its own; `folder` is relative to the project, and empty for the project itself. */
export type TestPackage = { readonly folder: string; readonly candidates: readonly Candidate[] };

/**
 * The package that a path belongs to: the nearest folder around it that is a package and says how it is tested, else the
 * project.
 */
export async function findPackage(projectDir: string, path: TestedPath | undefined): Promise<TestPackage> {
  for (let folder = folderOf(path); folder !== ""; folder = parentOf(folder)) {
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
export function insidePackage(path: TestedPath | undefined, folder: string): TestedPath | undefined {
  if (!path || folder === "") return path;
  const relative = path.relative.slice(folder.length + 1);
  return relative === "" ? undefined : { ...path, relative };
}

/** A report of a runner that names files from the package's folder, with names from the project's. */
export function fromProject(report: TestReport | null, folder: string): TestReport | null {
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

function folderOf(path: TestedPath | undefined): string {
  if (!path) return "";
  return path.isFolder ? path.relative : parentOf(path.relative);
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : parent;
}
