import { RetinueError } from "../../schema/error.ts";
import { countProblems, shortPath } from "../agents/show-source.ts";
import { askLine, isYes } from "../confirm.ts";
import { type CommonOptions, type OpenProject, openProject } from "../open-project.ts";
import { plainJson } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { wrapWords } from "../wrap-words.ts";
import { writeNew } from "../write-whole.ts";
import { describeFound, type FoundAgents, foundAgents } from "./found-agents.ts";
import { type PlannedFile, planFiles } from "./plan-files.ts";

/** Options of `retinue init`. */
export type InitOptions = CommonOptions & { dryRun?: boolean; yes?: boolean; example?: boolean };

/** `retinue init`: makes a folder a project of Retinue. What is there is never touched, so it may be called again. */
export async function init(options: InitOptions, terminal: Terminal): Promise<void> {
  const project = await openProject(options, terminal);
  const found = foundAgents(project);
  const hasOwn = found.some(({ scope }) => scope === "project");
  const files = planFiles(project.projectDir, { example: options.example ?? !hasOwn });
  const missing = files.filter(({ exists }) => !exists);
  const tell = options.json
    ? () => {}
    : (lines: string[]) => terminal.print(lines.map((line) => wrapWords(line, terminal, 9)).join("\n"));
  tell(describe(project, found, files));
  const wanted = missing.length > 0 && !options.dryRun && (await isWanted(options, terminal));
  const made = wanted ? await make(missing, project) : [];
  if (options.json) return terminal.print(plainJson(asJson(files, made, found), 2));
  tell(["", ...conclude(made, missing, options)]);
}

function describe(
  project: OpenProject,
  found: readonly FoundAgents[],
  files: readonly PlannedFile[],
): string[] {
  const { projectDir, problems } = project;
  const counts = countProblems(problems);
  return [
    `project: ${projectDir}`,
    ...found.map((each) => `found    ${describeFound(each)} (used as found)`),
    ...(counts ? [`note     ${counts} in agent files and settings; see: retinue agents check`] : []),
    ...files.map(({ path, about, exists }) => {
      const name = shortPath(path, projectDir);
      return exists ? `keep     ${name} (it is there already)` : `make     ${name}: ${about}`;
    }),
  ];
}

/** A person is asked; without one, new files in a folder of their own are the safe default. */
async function isWanted({ yes, json }: InitOptions, terminal: Terminal): Promise<boolean> {
  if (yes || json || !terminal.interactive) return true;
  const answer = await askLine("make these files? [Y/n] ", terminal);
  if (answer === "" || isYes(answer)) return true;
  throw new RetinueError("denied", "nothing was made");
}

async function make(files: readonly PlannedFile[], { projectDir }: OpenProject): Promise<string[]> {
  const made: string[] = [];
  for (const { path, text } of files) {
    if (await writeNew(path, text, { within: projectDir })) made.push(path);
  }
  return made;
}

function conclude(
  made: readonly string[],
  missing: readonly PlannedFile[],
  { dryRun }: InitOptions,
): string[] {
  if (dryRun && missing.length > 0) return ["nothing was made (--dry-run)"];
  const done =
    made.length > 0
      ? `made ${made.length === 1 ? "1 file" : `${made.length} files`}`
      : "nothing to make: all is there";
  return [
    done,
    "",
    "next:",
    '  retinue "Find where … and summarise it"   a first task; it needs no key',
    "  retinue agents list                       who there is",
    "  retinue agents new NAME                   another agent",
  ];
}

function asJson(
  files: readonly PlannedFile[],
  made: readonly string[],
  found: readonly FoundAgents[],
): object {
  return {
    files: files.map(({ path, exists }) => ({
      path,
      state: exists ? "kept" : made.includes(path) ? "made" : "missing",
    })),
    found,
  };
}
