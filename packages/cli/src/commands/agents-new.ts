import { join } from "node:path";
import { findAgentFolder } from "@retinue/builtin/load-project";
import { parseAgentValue } from "@retinue/core/agents/define-agent";
import { splitCommas } from "@retinue/core/agents/fields/read-values";
import { makeSlug } from "@retinue/core/agents/fields/slug";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import { writeAgentFile } from "@retinue/core/agents/write-agent-file";
import type { Problem } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { stripControls, writeJson } from "@retinue/core/text/plain-text";
import { askFor } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { type OpenProject, openProject, shortenPath, showSource } from "../open-project.ts";
import type { Cli } from "../terminal.ts";
import { writeNew } from "../write-files.ts";

/** Declares `retinue agents new`. */
export function registerAgentsNew(agents: CliCommand): void {
  agents
    .command("new")
    .description("write a new agent file, checked before it is written; asks for what no flag says")
    .argument("<name>", "small letters, digits and -, such as code-reviewer")
    .option("--description <text>", "what it is for: others delegate to it by this")
    .option("--tools <list>", "what it may use, such as `read, write(test/**)`; `*` for all it is granted")
    .option("--model <model>", "an alias or provider/model-id; its parent's if absent")
    .option("--subagents <list>", "whom it may delegate to")
    .option("--prompt <text>", "its instructions")
    .shares("global")
    .option("--dry-run", "only print the file")
    .examples(
      "retinue agents new release-notes",
      'retinue agents new scout --description "Finds things." --tools "read, grep"',
    )
    .performs(makeAgent);
}

type NewAgentOptions = {
  description?: string;
  tools?: string;
  model?: string;
  subagents?: string;
  prompt?: string;
  global?: boolean;
  dryRun?: boolean;
};

/** The default tools of a new agent: it reads, and changes nothing. */
const LOOKING = "read, glob, grep";

/** `retinue agents new`: writes an agent file that is known to load; never over one that is there. */
async function makeAgent(name: string, cli: Cli<NewAgentOptions>): Promise<void> {
  const slug = makeSlug(name);
  if (slug !== name)
    throw new RetinueError(
      "usage",
      `'${name.slice(0, 80)}' cannot be an agent's name`,
      slug ? `call it ${slug}` : "use small letters, digits and -",
    );
  const project = await openProject(cli);
  const folder = findAgentFolder(project, project.projectDir, cli.options.global ? "user" : "project");
  const file = join(folder, `${name}.md`);
  const text = await composeFile(name, cli);
  await refuseFaults(text, file, project);
  if (cli.options.dryRun) return cli.print(text.trimEnd());
  const within = cli.options.global ? {} : { within: project.projectDir };
  if (!(await writeNew(file, text, within)))
    throw new RetinueError("input", `${file} is there already`, "choose another name, or edit that file");
  report(name, file, project, cli);
}

async function composeFile(name: string, cli: Cli<NewAgentOptions>): Promise<string> {
  const { options } = cli;
  const purpose = {
    value: options.description,
    flag: '--description "When to delegate to it."',
    question: "what is it for (others delegate by this)",
  };
  const description = await askFor(purpose, cli);
  const isAsked = cli.interactive && options.description === undefined;
  const use = { value: options.tools, flag: "--tools", question: "what may it use", proposal: LOOKING };
  const tools = isAsked ? await askFor(use, cli) : (options.tools ?? LOOKING);
  const { agent, problems } = parseAgentValue({
    name,
    description,
    prompt: options.prompt ?? instructionsFor(description),
    ...(options.model && { model: options.model }),
    ...(options.subagents && { subagents: names(options.subagents) }),
  });
  const fault = faultIn(problems);
  if (!agent || fault)
    throw new RetinueError("input", fault?.message ?? "no agent can be made of this", fault?.fix);
  return writeAgentFile({ ...agent, ...(tools !== "*" && { tools: names(tools) }) });
}

function instructionsFor(description: string): string {
  const goal = description.trim().replace(/\.$/, "");
  return [
    `Your work: ${goal}.`,
    "",
    "Look before you speak: names, paths and numbers come from what you have read. Do what the task asks and nothing else.",
    "End with what you found or did, the files concerned, and what remains open.",
  ].join("\n");
}

/** A file that we make must be free of problems, unknown tools included. */
async function refuseFaults(text: string, file: string, { known }: OpenProject): Promise<void> {
  const { problems } = await parseAgentFile(text, { file, format: "native", scope: "project", known });
  const fault = faultIn(problems);
  if (fault) throw new RetinueError("input", fault.message, fault.fix);
}

function faultIn(problems: readonly Problem[]): Problem | undefined {
  return problems.find(({ severity }) => severity !== "info");
}

function report(
  name: string,
  file: string,
  { registry, projectDir }: OpenProject,
  cli: Cli<NewAgentOptions>,
): void {
  const { json } = cli.options;
  const before = registry.get(name);
  const shadows = before && { file: before.source.file ?? null, from: showSource(before.source) };
  if (json) {
    cli.print(writeJson({ name, file, shadows: shadows ?? null }, 2));
    return;
  }
  cli.print(`made ${shortenPath(file, projectDir)}`);
  if (before?.name === name)
    cli.tell(`note: it takes the place of the one from ${stripControls(showSource(before.source))}`);
  else if (before)
    cli.tell(`note: '${name}' was another name of '${stripControls(before.name)}', and no longer is`);
  cli.print(`try it: retinue run --agent ${name} "…"   its rights: retinue agents explain ${name}`);
}

function names(text: string): string[] {
  return splitCommas(text).flatMap((each) => each.trim() || []);
}
