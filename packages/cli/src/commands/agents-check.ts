import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { createFindOwn } from "@retinue/code/sandbox/running-commands";
import { type AgentFile, findAgentFiles, listPlaces } from "@retinue/core/agents/find-agent-files";
import { loadAgentFile } from "@retinue/core/agents/load-agents";
import { readText } from "@retinue/core/agents/read-text";
import { type FixedField, fixAgentFile } from "@retinue/core/agents/yaml/repair-yaml";
import { replaceFile } from "@retinue/core/files/replace-file";
import type { Problem } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { stripControls } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import {
  type OpenProject,
  openProject,
  shortenPath,
  showProblemCounts,
  showProblemPlace,
} from "../open-project.ts";
import { type Cli, printResult } from "../terminal.ts";

/** Declares `retinue agents check`. */
export function registerAgentsCheck(agents: CliCommand): void {
  agents
    .command("check")
    .description("list every problem of agent files and settings; exits with 1 if there are errors")
    .argument("[files...]", "only these files")
    .option("--fix", "rewrite what can be repaired, and nothing else")
    .examples("retinue agents check", "retinue agents check --fix .claude/agents/scout.md")
    .performs(checkAgents);
}

type CheckOptions = { fix?: boolean };

/** `retinue agents check`: 1 if there are errors, 0 for everything that loads all the same. */
async function checkAgents(files: readonly string[], cli: Cli<CheckOptions>): Promise<number> {
  let project = await openProject(cli);
  const only = files.length > 0 ? files.map((file) => existing(resolve(cli.cwd, file))) : undefined;
  const fixed = cli.options.fix ? await fixFiles(project, only) : [];
  if (fixed.some((each) => !each.refused)) project = await openProject(cli);
  const problems = only ? await listProblems(only, project) : project.problems;
  printResult(cli, {
    value: { problems, fixed, usable: project.registry.list().length },
    text: () => [...showFixed(fixed, project), ...showProblems(problems, project)],
  });
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
async function listProblems(files: readonly string[], project: OpenProject): Promise<Problem[]> {
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
      const place = showProblemPlace({ file, line }, projectDir);
      lines.push(
        stripControls(`${place} ${severity} ${code} ${message}`),
        stripControls(`  fix: ${fix.replaceAll("\n", "\n       ")}`),
      );
    }
    lines.push("");
  }
  const usable = showCount(registry.list().length, "usable agent");
  const counts = showProblemCounts(problems);
  lines.push(counts ? `${usable}; ${counts} in ${showCount(byFile.size, "file")}` : `${usable}; no problems`);
  return lines;
}

function showFixed(fixed: readonly FixedFile[], { projectDir }: OpenProject): string[] {
  const lines: string[] = [];
  for (const { file, changes, refused } of fixed) {
    const name = shortenPath(file, projectDir);
    lines.push(refused ? `not fixed ${name}: ${refused}` : `fixed ${name}`);
    for (const { line, key, before, after } of changes) {
      lines.push(`  line ${line}, ${stripControls(key)}:`, ...marked("-", before), ...marked("+", after));
    }
    lines.push("");
  }
  return lines;
}

function marked(mark: string, text: string): string[] {
  return stripControls(text)
    .split("\n")
    .map((line) => `  ${mark} ${line}`);
}

/** What was done to one file; `refused` says why it was left alone. */
type FixedFile = { file: string; changes: readonly FixedField[]; refused?: string };

/**
 * Repairs agent files of the project and the user, each by one rename, so that nobody ever sees half a file. A file
 * that really lies elsewhere is named and left alone.
 */
async function fixFiles(project: OpenProject, only: readonly string[] | undefined): Promise<FixedFile[]> {
  const { projectDir, places } = project;
  const searched = { projectDir, homeDir: places.homeDir, configHome: places.configHome };
  const findOwn = createFindOwn(places.dataDir);
  const files = only ?? (await findAgentFiles({ ...searched, findOwn })).files.map((file) => file.path);
  const roots = await Promise.all(
    listPlaces(searched).map(({ dir }) => realpath(dir).catch(() => undefined)),
  );
  const fixed: FixedFile[] = [];
  for (const file of files) {
    const read = readText(file);
    if ("problem" in read) continue;
    const { text, changes } = await fixAgentFile(read.text);
    if (changes.length === 0) continue;
    const real = await realpath(file);
    const inside = roots.some((root) => root !== undefined && !relative(root, real).startsWith(".."));
    if (inside) await replaceFile(real, text);
    fixed.push({
      file,
      changes,
      ...(!inside && { refused: "it lies outside the agent folders of project and user" }),
    });
  }
  return fixed;
}
