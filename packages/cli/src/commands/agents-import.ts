import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findAgentFolder } from "@retinue/builtin/load-project";
import { createFindOwn } from "@retinue/code/sandbox/running-commands";
import { type AgentFile, findAgentFiles, listPlaces } from "@retinue/core/agents/find-agent-files";
import { loadAgentFile } from "@retinue/core/agents/load-agents";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import { readText } from "@retinue/core/agents/read-text";
import { writeAgentFile } from "@retinue/core/agents/write-agent-file";
import type { Agent } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { stripControls } from "@retinue/core/text/plain-text";
import { confirm } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { type OpenProject, openProject, shortenPath } from "../open-project.ts";
import { VENDORS } from "../options.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";
import { writeNew } from "../write-files.ts";

/** Declares `retinue agents import`. */
export function registerAgentsImport(agents: CliCommand): void {
  agents
    .command("import")
    .description("copy other programs' agents in Retinue's own format, after showing what changes")
    .argument("[path]", "an agent file, or a folder of them")
    .oneOf("--from <program>", "all agents of this program, or the format of the path", VENDORS)
    .shares("global", "yes")
    .option("--dry-run", "only show what would change")
    .examples(
      "retinue agents import --from claude --dry-run",
      "retinue agents import ../other/.claude/agents",
    )
    .performs(importAgents);
}

type ImportOptions = {
  from?: (typeof VENDORS)[number];
  global?: boolean;
  yes?: boolean;
  dryRun?: boolean;
};

/** One file to be imported, or why it is not. */
type Import = { source: string; name: string; target: string; before: string; after: string };
type Refused = { source: string; why: string };

/** `retinue agents import`: copies of other programs' agents in our own format, shown before they are written. */
async function importAgents(path: string | undefined, cli: Cli<ImportOptions>): Promise<number> {
  const project = await openProject(cli);
  const files =
    path === undefined ? await filesFrom(cli.options, project) : filesAt(path, cli.options, project, cli);
  if (files.length === 0)
    throw new RetinueError(
      "input",
      "there is no agent file to import",
      "see what there is: retinue agents list",
    );
  const { imports, refused } = await prepare(files, cli.options, project);
  for (const { source, why } of refused)
    cli.tell(`not imported: ${stripControls(`${shortenPath(source, project.projectDir)}: ${why}`)}`);
  if (!cli.options.json) await showDiff(imports, project, cli);
  const made = imports.length > 0 && !cli.options.dryRun ? await write(imports, project, cli) : [];
  printResult(cli, {
    value: { imported: made.map(({ source, target, name }) => ({ name, source, target })), refused },
    text: () => conclusion(imports, made, cli.options),
  });
  return made.length === 0 && imports.length === 0 ? EXIT.failed : EXIT.ok;
}

function conclusion(imports: readonly Import[], made: readonly Import[], { dryRun }: ImportOptions): string {
  if (imports.length === 0) return "nothing to import";
  if (dryRun) return `${showCount(imports.length, "agent")} would be imported`;
  return `imported ${showCount(made.length, "agent")}: ${made.map(({ name }) => name).join(", ")}; the new files come before the old ones, which stay`;
}

/** Every agent file of a program, in the project and of the user. */
async function filesFrom({ from }: ImportOptions, { projectDir, places }: OpenProject): Promise<AgentFile[]> {
  if (!from)
    throw new RetinueError(
      "usage",
      "what should be imported?",
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
  const guessFormat = (file: string) =>
    from ?? folders.find(({ dir }) => file.startsWith(`${dir}/`))?.format ?? byName(file);
  const found = known.isDirectory() ? listAgentFiles(place) : [place];
  return found.map((file) => ({ path: file, format: guessFormat(file), scope: "project" }));
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
  const folder = findAgentFolder(project, project.projectDir, options.global ? "user" : "project");
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
    const names = [source, target].map((file) => shortenPath(file, projectDir));
    const patch = createTwoFilesPatch(
      names[0] ?? source,
      names[1] ?? target,
      before.replaceAll("\r\n", "\n"),
      after,
      "",
      "",
      { context: 2 },
    );
    terminal.print(stripControls(patch.replace(/^=+\n/, "")).trimEnd());
  }
}

async function write(
  imports: readonly Import[],
  { projectDir }: OpenProject,
  cli: Cli<ImportOptions>,
): Promise<Import[]> {
  if (!(await confirm(`importing ${showCount(imports.length, "agent")}`, cli)))
    throw new RetinueError("denied", "nothing was imported");
  const made: Import[] = [];
  for (const each of imports) {
    if (await writeNew(each.target, each.after, cli.options.global ? {} : { within: projectDir }))
      made.push(each);
  }
  return made;
}

const MOST = 2_000;

/** The Markdown files below a folder, in order; hidden folders and links to others are passed over. */
function listAgentFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.toLowerCase().endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\](?:\.|node_modules)/.test(file.slice(folder.length)))
    .sort()
    .slice(0, MOST);
}
