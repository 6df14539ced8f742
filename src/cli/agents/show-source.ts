import { relative } from "node:path";
import type { Agent, AgentSource, Problem } from "../../schema/agent.ts";
import { countOf } from "../measures.ts";

/** Where a definition came from, in words: `project, claude`. */
export function showSource({ scope, format }: AgentSource): string {
  if (scope === "code") return "--agents";
  return format === "native" ? scope : `${scope}, ${format}`;
}

/** A path as short as it can be without being ambiguous. */
export function shortPath(path: string, projectDir: string): string {
  const inside = relative(projectDir, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}

/** An agent's tools on one line. */
export function showTools(agent: Pick<Agent, "tools">): string {
  if (agent.tools === undefined) return "(all it is granted)";
  return agent.tools.length === 0 ? "(none)" : agent.tools.join(", ");
}

/** How many problems of each weight there are; empty if there are none. */
export function countProblems(problems: readonly Problem[]): string {
  const of = (severity: Problem["severity"]) =>
    problems.filter((problem) => problem.severity === severity).length;
  const counts: [number, string][] = [
    [of("error"), "error"],
    [of("warning"), "warning"],
    [of("info"), "note"],
  ];
  return counts.flatMap(([count, word]) => (count > 0 ? [countOf(count, word)] : [])).join(", ");
}
