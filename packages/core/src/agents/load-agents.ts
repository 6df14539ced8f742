import { statSync } from "node:fs";
import type { Agent, BrokenAgent, Problem } from "../schema/agent.ts";
import { tryTo } from "../schema/error.ts";
import { makeSlug } from "./fields/slug.ts";
import type { KnownTools } from "./fields/tool-names.ts";
import { type AgentFile, type AgentPlaces, findAgentFiles } from "./find-agent-files.ts";
import { nameOfFile, type ParsedAgent, parseAgentFile } from "./parse-agent-file.ts";
import { readText } from "./read-text.ts";
import { type AgentChange, type AgentRegistry, createRegistry, takeDefinitions } from "./registry.ts";

/** Where agents come from and what their rules may name. */
export type LoadOptions = AgentPlaces & {
  known?: KnownTools;
  /** Agents from code, flags or settings, and what could not be used of them; they come before every file. */
  agents?: readonly (Agent | BrokenAgent)[];
  disabledAgents?: readonly string[];
  /** What the user's settings change in agents that there are. */
  changes?: readonly AgentChange[];
  /** Files that were parsed before; one that has not changed since is not parsed again. */
  parsed?: ParsedFiles;
};

/** Parsed agent files by path, each with what it was parsed from. */
export type ParsedFiles = Map<string, { state: string; result: ParsedAgent }>;

/** Finds, reads and checks every agent. One bad file never hides another; nothing here throws on content. */
export async function loadAgents(options: LoadOptions): Promise<AgentRegistry> {
  const { files, problems } = await findAgentFiles(options);
  const agents: (Agent | BrokenAgent)[] = [...(options.agents ?? [])];
  const found: Problem[] = [...problems];
  // What rules may name decides what is a problem in a file.
  const { tools = [], groups = [], servers = [] } = options.known ?? {};
  const names = JSON.stringify([[...tools], [...groups], [...servers]]);
  for (const file of files) {
    const result = await loadOnce(file, names, options);
    const { path, format, scope } = file;
    found.push(...result.problems);
    agents.push(...takeDefinitions(result, { format, scope, file: path }));
  }
  const { changes, disabledAgents } = options;
  return createRegistry({ agents, problems: found, changes, disabledAgents });
}

async function loadOnce(file: AgentFile, names: string, options: LoadOptions): Promise<ParsedAgent> {
  const { parsed, known } = options;
  const state = parsed && fileState(file, names);
  const before = parsed?.get(file.path);
  if (before && before.state === state) return before.result;
  const result = await loadAgentFile(file, known);
  if (state !== undefined) parsed?.set(file.path, { state, result });
  return result;
}

/** What changes whenever the file does; undefined if it cannot be looked at. */
function fileState({ path, format, scope }: AgentFile, names: string): string | undefined {
  const stats = tryTo(() => statSync(path, { bigint: true }));
  if (!stats) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs, format, scope, names].join(" ");
}

/** Reads and checks one file. */
export async function loadAgentFile(file: AgentFile, known?: KnownTools): Promise<ParsedAgent> {
  const read = readText(file.path);
  const { path, format, scope } = file;
  const name = nameOfFile(path);
  if ("problem" in read) return { name: makeSlug(name) ?? name, aliases: [], problems: [read.problem] };
  return parseAgentFile(read.text, { file: path, format, scope, known });
}
