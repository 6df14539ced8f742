import type { Problem } from "../../schema/agent.ts";
import { shortPath } from "../agents/show-source.ts";
import { countOf } from "../measures.ts";
import { type OpenProject, settingsFiles } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import { type Finding, ok, problem, warning } from "./check.ts";

const MOST_DETAILS = 8;

/** How many agents there are, and which files were repaired, skipped or shadowed. */
export function checkAgents(project: OpenProject): Finding {
  const { registry, projectDir } = project;
  const files = settingsFiles(project);
  const problems = project.problems.filter(({ file }) => file !== files.user && file !== files.project);
  const repaired = filesOf(problems.filter(({ code }) => code === "repaired-yaml"));
  const skipped = filesOf(problems.filter(({ severity }) => severity === "error"));
  const warned = problems.filter(({ severity, code }) => severity === "warning" && code !== "repaired-yaml");
  const shadowed = registry.shadowed.filter(({ agent }) => agent.source.scope !== "builtin");
  const agents = registry.list();
  const bySource = Map.groupBy(agents, ({ source }) =>
    source.format === "native" ? source.scope : source.format,
  );
  const from = [...bySource].map(([source, group]) => `${group.length} ${source}`).join(", ");
  const counts = [
    ...(registry.disabled.length > 0 ? [`${registry.disabled.length} disabled`] : []),
    ...(repaired.length > 0 ? [`${repaired.length} repaired`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    ...(shadowed.length > 0 ? [`${shadowed.length} shadowed`] : []),
    ...(warned.length > 0 ? [countOf(warned.length, "warning")] : []),
  ];
  const short = (file: string) => shortPath(file, projectDir);
  const details = [
    ...skipped.map((file) => `skipped ${short(file)}`),
    ...repaired.map((file) => `repaired ${short(file)}`),
    ...shadowed.map(
      ({ agent, by }) =>
        `shadowed ${short(agent.source.file ?? agent.name)} by ${short(by.source.file ?? "code")}`,
    ),
  ];
  const facts = {
    usable: agents.length,
    sources: Object.fromEntries([...bySource].map(([source, group]) => [source, group.length])),
    repaired,
    skipped,
    shadowed: shadowed.map(({ agent, by }) => ({
      name: agent.name,
      file: agent.source.file,
      by: by.source.file,
    })),
    disabled: registry.disabled.map(({ name }) => name),
  };
  const summary = `${countOf(agents.length, "agent")} (${from || "none"})${counts.length > 0 ? `; ${counts.join(", ")}` : ""}`;
  const more = { details: cut(details), facts };
  if (skipped.length > 0) return problem(summary, "retinue agents check", more);
  if (agents.length === 0) return problem("there are no agents", "retinue init", more);
  if (repaired.length > 0) return warning(summary, "retinue agents check --fix", more);
  return warned.length > 0 ? warning(summary, "retinue agents check", more) : ok(summary, more);
}

/** Whether the settings files say what their author meant. */
export function checkSettingsFiles(project: OpenProject): Finding {
  const files = settingsFiles(project);
  const problems = project.problems.filter(({ file }) => file === files.user || file === files.project);
  const details = cut(
    problems.map(
      ({ file, line, message }) =>
        `${shortPath(file, project.projectDir)}:${Math.max(1, line)} ${plainLine(message, 200)}`,
    ),
  );
  const facts = {
    files,
    problems: problems.map(({ file, line, code, severity }) => ({ file, line, code, severity })),
  };
  if (problems.some(({ severity }) => severity === "error"))
    return problem("the settings have errors, so nothing runs", `edit ${problems[0]?.file ?? files.user}`, {
      details,
      facts,
    });
  if (problems.length > 0)
    return warning(
      `the settings have ${countOf(problems.length, "warning")}`,
      "retinue config list --show-origin",
      { details, facts },
    );
  return ok("settings have no problems", { facts });
}

function filesOf(problems: readonly Problem[]): string[] {
  return [...new Set(problems.map(({ file }) => file))];
}

function cut(details: readonly string[]): string[] {
  const more = details.length - MOST_DETAILS;
  return more > 0 ? [...details.slice(0, MOST_DETAILS), `and ${more} more`] : [...details];
}
