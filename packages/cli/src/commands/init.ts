import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Agent, AgentFormat } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { PUBLISHED_SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, writeJson } from "@retinue/core/text/plain-text";
import { askLine, isYes } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { type OpenProject, openProject, shortenPath, showProblemCounts } from "../open-project.ts";
import type { Cli } from "../terminal.ts";
import { wrapWords } from "../text-layout.ts";
import { writeNew } from "../write-files.ts";

/** Declares `retinue init`. */
export default function registerInit(command: CliCommand): void {
  command
    .description(
      "make this folder a project: settings, an example agent, and a look at agents that are there already",
    )
    .option("--dry-run", "only say what would be made")
    .shares("yes")
    .option("--example", "make the example agent even if the project has agents")
    .option("--no-example", "make no example agent")
    .examples("retinue init", "retinue init --dry-run")
    .performs(initProject);
}

type InitOptions = { dryRun?: boolean; yes?: boolean; example?: boolean };

/** `retinue init`: makes a folder a project of Retinue. What is there is never touched, so it may be called again. */
async function initProject(cli: Cli<InitOptions>): Promise<void> {
  const project = await openProject(cli);
  const found = findAgents(project);
  const hasOwn = found.some(({ scope }) => scope === "project");
  const files = planFiles(project.projectDir, { example: cli.options.example ?? !hasOwn });
  const missing = files.filter(({ exists }) => !exists);
  const tell = cli.options.json
    ? () => {}
    : (lines: string[]) => cli.print(lines.map((line) => wrapWords(line, cli, 9)).join("\n"));
  tell(describeProject(project, found, files));
  const wanted = missing.length > 0 && !cli.options.dryRun && (await isWanted(cli));
  const made = wanted ? await make(missing, project) : [];
  if (cli.options.json) return cli.print(writeJson(asJson(files, made, found), 2));
  tell(["", ...conclude(made, missing, cli.options)]);
}

function describeProject(
  project: OpenProject,
  found: readonly FoundAgents[],
  files: readonly PlannedFile[],
): string[] {
  const { projectDir, problems } = project;
  const counts = showProblemCounts(problems);
  return [
    `project: ${projectDir}`,
    ...found.map((each) => `found    ${describeFound(each)} (used as found)`),
    ...(counts ? [`note     ${counts} in agent files and settings; see: retinue agents check`] : []),
    ...files.map(({ path, about, exists }) => {
      const name = shortenPath(path, projectDir);
      return exists ? `keep     ${name} (it is there already)` : `make     ${name}: ${about}`;
    }),
  ];
}

/** Asks a person; without one, new files in their own folder are a safe default. */
async function isWanted(cli: Cli<InitOptions>): Promise<boolean> {
  const { yes, json } = cli.options;
  if (yes || json || !cli.interactive) return true;
  const answer = await askLine("make these files? [Y/n] ", cli);
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
  const done = made.length > 0 ? `made ${showCount(made.length, "file")}` : "nothing to make: all is there";
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

/** Agents of one program in one folder, which work here as they are. */
type FoundAgents = { from: string; scope: "project" | "user"; folder: string; names: string[] };

const PROGRAMS: Readonly<Partial<Record<AgentFormat, string>>> = {
  native: "Retinue",
  claude: "Claude Code",
  opencode: "opencode",
  copilot: "GitHub Copilot",
  gemini: "Gemini CLI",
};

/** The agents that exist already, in the project and in the user's home. */
function findAgents({ registry, projectDir }: OpenProject): FoundAgents[] {
  const own = registry.list().filter(({ source }) => source.scope === "project" || source.scope === "user");
  const groups = Map.groupBy(own, ({ source }) => `${source.scope} ${source.format}`);
  const found = [...groups.values()].flatMap((agents) => {
    const [first] = agents;
    return first ? [describeGroup(first, agents, projectDir)] : [];
  });
  return found.toSorted((a, b) => `${a.scope} ${a.from}`.localeCompare(`${b.scope} ${b.from}`));
}

/** The same for a person. */
function describeFound({ from, folder, names }: FoundAgents): string {
  const shown = names.slice(0, 8).join(", ");
  const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
  return `${showCount(names.length, "agent")} of ${from} in ${folder}: ${cutToLine(shown, 300)}${more}`;
}

function describeGroup({ source }: Agent, agents: readonly Agent[], projectDir: string): FoundAgents {
  const folder = source.file ? dirname(source.file) : "the settings";
  const scope = source.scope === "user" ? "user" : "project";
  return {
    from: PROGRAMS[source.format] ?? "your settings",
    scope,
    folder: scope === "project" && source.file ? relative(projectDir, folder) || "." : folder,
    names: agents.map(({ name }) => name),
  };
}

/** One file that `retinue init` makes, and what it is for. */
type PlannedFile = { path: string; text: string; about: string; exists: boolean };

/** What a project begins with: secrets in the usual places stay unread. Everything else is as the user has it. */
const SETTINGS = {
  $schema: "./settings.schema.json",
  permissions: { ask: [], deny: ["read(**/.env)", "read(**/.env.local)"] },
  limits: {},
};

/** The files that make a folder a project of Retinue; the example only where there are no agents to learn from. */
function planFiles(projectDir: string, { example }: { example: boolean }): PlannedFile[] {
  const agent = new URL("./prompts/init-example-agent.md", import.meta.url);
  const folder = join(projectDir, ".retinue");
  const file = (path: string, about: string, text: string): PlannedFile => ({
    path: join(folder, path),
    about,
    text,
    exists: isThere(join(folder, path)),
  });
  return [
    file("settings.json", "what agents may not do in this project, and limits", toJson(SETTINGS)),
    file("settings.schema.json", "so that your editor knows the settings", toJson(PUBLISHED_SETTINGS_SCHEMA)),
    ...(example
      ? [file("agents/release-notes.md", "an example agent to change", readFileSync(agent, "utf8"))]
      : []),
  ];
}

/** A path that cannot be read counts as missing: writing it says what is wrong. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
