import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type AgentFile, findAgentFiles, listPlaces } from "../../agents/find-agent-files.ts";
import { loadAgentFile } from "../../agents/load-agents.ts";
import type { Problem } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { EXIT } from "../exit-code.ts";
import { countOf } from "../measures.ts";
import { type CommonOptions, type OpenProject, openProject } from "../open-project.ts";
import { plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { type FixedFile, fixFiles } from "./fix-files.ts";
import { countProblems, shortPath } from "./show-source.ts";

/** Options of `retinue agents check`. */
export type CheckOptions = CommonOptions & { fix?: boolean };

/** `retinue agents check`: 1 if there are errors, 0 for everything that loads all the same. */
export async function checkAgents(
  files: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  let project = await openProject(options, terminal);
  const only = files.length > 0 ? files.map((file) => existing(resolve(terminal.cwd, file))) : undefined;
  const fixed = options.fix ? await fixFiles(project, only) : [];
  if (fixed.some((each) => !each.refused)) project = await openProject(options, terminal);
  const problems = only ? await problemsOf(only, project) : project.problems;
  if (options.json)
    terminal.print(JSON.stringify({ problems, fixed, usable: project.registry.list().length }, null, 2));
  else terminal.print([...showFixed(fixed, project), ...showProblems(problems, project)].join("\n"));
  return problems.some((problem) => problem.severity === "error") ? EXIT.failed : EXIT.ok;
}

function existing(file: string): string {
  if (statSync(file, { throwIfNoEntry: false })) return file;
  throw new RetinueError(
    "input",
    `there is no file ${file}`,
    "name an existing file, or none to check all agents",
  );
}

/** Problems of certain files; one that is in no agent folder is read as our own format. */
async function problemsOf(files: readonly string[], project: OpenProject): Promise<Problem[]> {
  const { projectDir, places, known } = project;
  const searched = { projectDir, homeDir: places.homeDir, configHome: places.configHome };
  const found = new Set((await findAgentFiles(searched)).files.map((file) => file.path));
  const folders = listPlaces(searched);
  const problems: Problem[] = [];
  for (const path of files) {
    if (found.has(path) || path.endsWith("settings.json")) {
      problems.push(...project.problems.filter((problem) => problem.file === path));
      continue;
    }
    const folder = folders.find(({ dir }) => path.startsWith(`${dir}/`));
    const file: AgentFile = { path, format: folder?.format ?? "native", scope: folder?.scope ?? "project" };
    problems.push(...(await loadAgentFile(file, known)).problems);
  }
  return problems;
}

function showProblems(problems: readonly Problem[], { projectDir, registry }: OpenProject): string[] {
  const byFile = Map.groupBy(problems, (problem) => problem.file);
  const lines: string[] = [];
  for (const [file, group] of byFile) {
    for (const { line, severity, code, message, fix } of group.toSorted((a, b) => a.line - b.line)) {
      const place = `${shortPath(file, projectDir)}:${Math.max(1, line)}`;
      lines.push(plainText(`${place} ${severity} ${code} ${message}`), plainText(`  fix: ${indented(fix)}`));
    }
    lines.push("");
  }
  const usable = countOf(registry.list().length, "usable agent");
  const counts = countProblems(problems);
  lines.push(counts ? `${usable}; ${counts} in ${countOf(byFile.size, "file")}` : `${usable}; no problems`);
  return lines;
}

function showFixed(fixed: readonly FixedFile[], { projectDir }: OpenProject): string[] {
  const lines: string[] = [];
  for (const { file, changes, refused } of fixed) {
    const name = shortPath(file, projectDir);
    lines.push(refused ? `not fixed ${name}: ${refused}` : `fixed ${name}`);
    for (const { line, key, before, after } of changes) {
      lines.push(`  line ${line}, ${plainText(key)}:`, ...marked("-", before), ...marked("+", after));
    }
    lines.push("");
  }
  return lines;
}

function marked(mark: string, text: string): string[] {
  return plainText(text)
    .split("\n")
    .map((line) => `  ${mark} ${line}`);
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n       ");
}
