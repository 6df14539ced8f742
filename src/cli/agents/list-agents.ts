import { isBroken } from "../../agents/registry.ts";
import type { Agent } from "../../schema/agent.ts";
import { type CommonOptions, type OpenProject, openProject } from "../open-project.ts";
import { plainLine, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { countProblems, shortPath, showSource, showTools } from "./show-source.ts";

/** `retinue agents list`. */
export async function listAgents(options: CommonOptions, terminal: Terminal): Promise<void> {
  const project = await openProject(options, terminal);
  terminal.print(options.json ? JSON.stringify(asJson(project), null, 2) : asText(project).join("\n"));
}

function asText({ registry, problems, projectDir, places }: OpenProject): string[] {
  const agents = registry.list();
  const lines: string[] = [];
  if (agents.length === 0) {
    lines.push(
      "no agents yet",
      `hint: put one into ${projectDir}/.retinue/agents or ${places.configDir}/agents`,
    );
  } else {
    const head = ["NAME", "FROM", "MODEL", "TOOLS", "DESCRIPTION"];
    lines.push(...table([head, ...agents.map(rowOf)]));
  }
  if (registry.shadowed.length > 0) {
    const rows = registry.shadowed.map(({ agent, by }) => [
      `  ${agent.name}`,
      where(agent, projectDir),
      `by ${where(by, projectDir)}`,
    ]);
    lines.push("", "shadowed by another of the same name:", ...table(rows));
  }
  if (registry.disabled.length > 0) {
    const rows = registry.disabled.map((agent) => [`  ${agent.name}`, where(agent, projectDir)]);
    lines.push("", "disabled:", ...table(rows));
  }
  if (registry.broken.length > 0) {
    const rows = registry.broken.map((broken) => [
      `  ${broken.name}`,
      where(broken, projectDir),
      plainLine(broken.problem.message, 200),
    ]);
    lines.push("", "cannot be used, and no other agent takes their place:", ...table(rows));
  }
  const counts = countProblems(problems);
  if (counts) lines.push("", `${counts}; see: retinue agents check`);
  return lines;
}

function rowOf(agent: Agent): string[] {
  const { name, source, model, description, display } = agent;
  const icon = display.icon === undefined ? "" : `${plainLine(display.icon, 8)} `;
  return [
    name,
    showSource(source),
    plainLine(model, 30),
    plainLine(showTools(agent), 36),
    icon + plainLine(description, 60),
  ];
}

function where({ source }: Pick<Agent, "source">, projectDir: string): string {
  return source.file ? shortPath(source.file, projectDir) : showSource(source);
}

function asJson({ registry, problems }: OpenProject): object {
  const brief = (agent: Agent) => ({
    name: agent.name,
    displayName: agent.displayName,
    ...(agent.display.icon !== undefined && { icon: agent.display.icon }),
    aliases: agent.aliases,
    description: agent.description,
    model: agent.model,
    ...(agent.tools && { tools: agent.tools }),
    subagents: agent.subagents?.allow ?? [],
    limits: agent.limits,
    source: agent.source,
  });
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  return {
    agents: registry.list().map(brief),
    shadowed: registry.shadowed.map(({ agent, by }) => ({
      ...(isBroken(agent) ? agent : brief(agent)),
      by: by.source,
    })),
    disabled: registry.disabled.map(brief),
    broken: registry.broken,
    problems: { errors: count("error"), warnings: count("warning"), notes: count("info") },
  };
}
