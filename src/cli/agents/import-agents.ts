import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type AgentFile, findAgentFiles, listPlaces } from "../../agents/find-agent-files.ts";
import { loadAgentFile } from "../../agents/load-agents.ts";
import { parseAgentFile } from "../../agents/parse-agent-file.ts";
import { readText } from "../../agents/read-text.ts";
import { writeAgentFile } from "../../agents/write-agent-file.ts";
import { createFindOwn } from "../../packs/code/sandbox/running-commands.ts";
import type { Agent } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-code.ts";
import { countOf } from "../measures.ts";
import { type CommonOptions, type OpenProject, openProject } from "../open-project.ts";
import { plainJson, plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { writeNew } from "../write-whole.ts";
import { listAgentFiles } from "./list-agent-files.ts";
import { shortPath } from "./show-source.ts";

/** Programs whose agents can be imported. */
export const VENDORS = ["claude", "opencode", "copilot", "gemini"] as const;

/** Options of `retinue agents import`. */
export type ImportOptions = CommonOptions & {
  from?: (typeof VENDORS)[number];
  global?: boolean;
  yes?: boolean;
  dryRun?: boolean;
};

/** One file to be imported, or why it is not. */
type Import = { source: string; name: string; target: string; before: string; after: string };
type Refused = { source: string; why: string };

/** `retinue agents import`: copies of other programs' agents in our own format, shown before they are written. */
export async function importAgents(
  path: string | undefined,
  options: ImportOptions,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options, terminal);
  const files =
    path === undefined ? await filesFrom(options, project) : filesAt(path, options, project, terminal);
  if (files.length === 0)
    throw new RetinueError(
      "input",
      "there is no agent file to import",
      "see what there is: retinue agents list",
    );
  const { imports, refused } = await prepare(files, options, project);
  for (const { source, why } of refused)
    terminal.tell(`not imported: ${plainText(`${shortPath(source, project.projectDir)}: ${why}`)}`);
  if (!options.json) await showDiff(imports, project, terminal);
  const made = imports.length > 0 && !options.dryRun ? await write(imports, options, project, terminal) : [];
  const shown = { imported: made.map(({ source, target, name }) => ({ name, source, target })), refused };
  if (options.json) terminal.print(plainJson(shown, 2));
  else terminal.print(conclusion(imports, made, options));
  return made.length === 0 && imports.length === 0 ? EXIT.failed : EXIT.ok;
}

function conclusion(imports: readonly Import[], made: readonly Import[], { dryRun }: ImportOptions): string {
  if (imports.length === 0) return "nothing to import";
  if (dryRun) return `${countOf(imports.length, "agent")} would be imported`;
  return `imported ${countOf(made.length, "agent")}: ${made.map(({ name }) => name).join(", ")}; the new files come before the old ones, which stay`;
}

/** Every agent file of a program, in the project and of the user. */
async function filesFrom({ from }: ImportOptions, { projectDir, places }: OpenProject): Promise<AgentFile[]> {
  if (!from)
    throw new RetinueError(
      "usage",
      "what is to be imported?",
      `name a file or a folder, or --from ${VENDORS.join("|")}`,
    );
  const { files } = await findAgentFiles({
    projectDir,
    homeDir: places.homeDir,
    configHome: places.configHome,
    findOwn: createFindOwn(places.dataDir),
  });
  return files.filter(({ format }) => format === from);
}

/** The files that a path names; their format by --from, by the folder they are in, or by their names. */
function filesAt(
  path: string,
  { from }: ImportOptions,
  { projectDir, places }: OpenProject,
  terminal: Terminal,
): AgentFile[] {
  const place = resolve(terminal.cwd, path);
  const known = statSync(place, { throwIfNoEntry: false });
  if (!known) throw new RetinueError("input", `there is no ${place}`, "name an existing file or folder");
  const folders = listPlaces({ projectDir, homeDir: places.homeDir, configHome: places.configHome });
  const formatOf = (file: string) =>
    from ?? folders.find(({ dir }) => file.startsWith(`${dir}/`))?.format ?? byName(file);
  const found = known.isDirectory() ? listAgentFiles(place) : [place];
  return found.map((file) => ({ path: file, format: formatOf(file), scope: "project" }));
}

function byName(file: string): AgentFile["format"] {
  if (file.endsWith(".agent.md")) return "copilot";
  return VENDORS.find((vendor) => file.includes(`/.${vendor}/`) || file.includes(`/${vendor}/`)) ?? "claude";
}

async function prepare(
  files: readonly AgentFile[],
  options: ImportOptions,
  project: OpenProject,
): Promise<{ imports: Import[]; refused: Refused[] }> {
  const imports: Import[] = [];
  const refused: Refused[] = [];
  const folder = options.global
    ? join(project.places.configDir, "agents")
    : join(project.projectDir, ".retinue", "agents");
  for (const file of files) {
    const read = await translate(file, folder, project);
    const isTaken = "target" in read && imports.some(({ target }) => target === read.target);
    if (isTaken) refused.push({ source: file.path, why: `another file is imported as '${read.name}'` });
    else if ("target" in read) imports.push(read);
    else refused.push(read);
  }
  return { imports, refused };
}

/** The file in our own format; refused unless it means exactly the same agent. */
async function translate(file: AgentFile, folder: string, { known }: OpenProject): Promise<Import | Refused> {
  const refuse = (why: string): Refused => ({ source: file.path, why });
  const read = readText(file.path);
  if ("problem" in read) return refuse(read.problem.message);
  const { agent, problems } = await loadAgentFile(file, known);
  if (!agent)
    return refuse(problems.find(({ severity }) => severity === "error")?.message ?? "it is not an agent");
  const target = join(folder, `${agent.name}.md`);
  if (target === file.path) return refuse("it is there already, in our own format");
  if (statSync(target, { throwIfNoEntry: false })) return refuse(`${target} is there already`);
  const after = await writeAgentFile(agent);
  const again = await parseAgentFile(after, { file: target, format: "native", scope: "project", known });
  if (!again.agent || !isDeepStrictEqual(withoutSource(again.agent), withoutSource(agent)))
    return refuse("it cannot be said in our own format without a change of meaning");
  return { source: file.path, name: agent.name, target, before: read.text, after };
}

function withoutSource({ source: _, ...agent }: Agent): unknown {
  return JSON.parse(JSON.stringify(agent));
}

async function showDiff(
  imports: readonly Import[],
  { projectDir }: OpenProject,
  terminal: Terminal,
): Promise<void> {
  const { createTwoFilesPatch } = await import("diff");
  for (const { source, target, before, after } of imports) {
    const names = [source, target].map((file) => shortPath(file, projectDir));
    const patch = createTwoFilesPatch(
      names[0] ?? source,
      names[1] ?? target,
      before.replaceAll("\r\n", "\n"),
      after,
      "",
      "",
      { context: 2 },
    );
    terminal.print(plainText(patch.replace(/^=+\n/, "")).trimEnd());
  }
}

async function write(
  imports: readonly Import[],
  options: ImportOptions,
  { projectDir }: OpenProject,
  terminal: Terminal,
): Promise<Import[]> {
  if (!(await confirm(`importing ${countOf(imports.length, "agent")}`, options, terminal)))
    throw new RetinueError("denied", "nothing was imported");
  const made: Import[] = [];
  for (const each of imports) {
    if (await writeNew(each.target, each.after, options.global ? {} : { within: projectDir }))
      made.push(each);
  }
  return made;
}
