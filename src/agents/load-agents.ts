import type { Agent, Problem } from "../schema/agent.ts";
import { slugOf } from "./fields/slug.ts";
import type { KnownTools } from "./fields/tool-names.ts";
import { type AgentFile, type AgentPlaces, findAgentFiles } from "./find-agent-files.ts";
import { nameOfFile, type ParsedAgent, parseAgentFile } from "./parse-agent-file.ts";
import { readText } from "./read-text.ts";
import { type AgentRegistry, createRegistry } from "./registry.ts";

/** Where agents come from and what their rules may name. */
export type LoadOptions = AgentPlaces & {
  known?: KnownTools;
  /** Agents from code, flags or settings; they come before every file. */
  agents?: readonly Agent[];
  disabledAgents?: readonly string[];
  /** Roles of the settings that could not be loaded. */
  broken?: readonly string[];
};

/** Files read at once. */
const BATCH = 16;

/** Finds, reads and checks every agent. One bad file never hides another; nothing here throws on content. */
export async function loadAgents(options: LoadOptions): Promise<AgentRegistry> {
  const { files, problems } = await findAgentFiles(options);
  const agents: Agent[] = [...(options.agents ?? [])];
  const unusable: { name: string; file: string }[] = [];
  const found: Problem[] = [...problems];
  for (let start = 0; start < files.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH);
    const parsed = await Promise.all(batch.map((file) => loadAgentFile(file, options.known)));
    for (const [index, result] of parsed.entries()) {
      found.push(...result.problems);
      const broken = result.problems.some((problem) => problem.severity === "error");
      if (result.agent !== undefined) agents.push(result.agent);
      else if (broken) unusable.push({ name: result.name, file: batch[index]?.path ?? "" });
    }
  }
  return createRegistry({
    agents,
    problems: found,
    unusable,
    broken: options.broken ?? [],
    ...(options.disabledAgents === undefined ? {} : { disabledAgents: options.disabledAgents }),
  });
}

/** Reads and checks one file. */
export async function loadAgentFile(file: AgentFile, known?: KnownTools): Promise<ParsedAgent> {
  const read = readText(file.path);
  if ("problem" in read) return { name: slugOf(nameOfFile(file.path)) ?? "", problems: [read.problem] };
  const { path, format, scope } = file;
  return parseAgentFile(read.text, { file: path, format, scope, ...(known === undefined ? {} : { known }) });
}
