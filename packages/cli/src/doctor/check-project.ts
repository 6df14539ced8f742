import { chooseAccount, loadAccounts, SERVICES } from "@retinue/assistant/accounts/accounts";
import { createFileStore, openKeyring } from "@retinue/assistant/accounts/secret-store";
import type { Problem } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import type { Settings } from "@retinue/core/schema/settings";
import { findPlaces } from "@retinue/core/settings/places";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { findSettingsFiles, type OpenProject, shortenPath, showProblemPlace } from "../open-project.ts";
import { type Finding, ok, problem, warning } from "./run-checks.ts";

const MOST_DETAILS = 8;

/** How many agents there are, and which files were repaired, skipped or shadowed. */
export function checkAgentFiles(project: OpenProject): Finding {
  const { registry, projectDir } = project;
  const files = findSettingsFiles(project);
  const problems = project.problems.filter(({ file }) => file !== files.user && file !== files.project);
  const repaired = listProblemFiles(problems.filter(({ code }) => code === "repaired-yaml"));
  const skipped = listProblemFiles(problems.filter(({ severity }) => severity === "error"));
  const warned = problems.filter(({ severity, code }) => severity === "warning" && code !== "repaired-yaml");
  const shadowed = registry.shadowed.filter(({ agent }) => agent.source.scope !== "builtin");
  const agents = registry.list();
  const bySource = Map.groupBy(agents, ({ source }) =>
    source.format === "native" ? source.scope : source.format,
  );
  const from = [...bySource].map(([source, group]) => `${group.length} ${source}`).join(", ");
  const counts = [
    ...Object.entries({ disabled: registry.disabled, repaired, skipped, shadowed }).flatMap(([word, some]) =>
      some.length > 0 ? [`${some.length} ${word}`] : [],
    ),
    ...(warned.length > 0 ? [showCount(warned.length, "warning")] : []),
  ];
  const short = (file: string) => shortenPath(file, projectDir);
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
  const summary = `${showCount(agents.length, "agent")} (${from || "none"})${counts.length > 0 ? `; ${counts.join(", ")}` : ""}`;
  const shown = cutDetails(details);
  if (skipped.length > 0) return problem(summary, "retinue agents check", facts, shown);
  if (agents.length === 0) return problem("there are no agents", "retinue init", facts, shown);
  if (repaired.length > 0) return warning(summary, "retinue agents check --fix", facts, shown);
  if (warned.length > 0) return warning(summary, "retinue agents check", facts, shown);
  return ok(summary, facts, shown);
}

/** Whether the settings files say what their author meant. */
export function checkSettingsFiles(project: OpenProject): Finding {
  const files = findSettingsFiles(project);
  const problems = project.problems.filter(({ file }) => file === files.user || file === files.project);
  const details = cutDetails(
    problems.map(
      (problem) => `${showProblemPlace(problem, project.projectDir)} ${cutToLine(problem.message, 200)}`,
    ),
  );
  const facts = {
    files,
    problems: problems.map(({ file, line, code, severity }) => ({ file, line, code, severity })),
  };
  if (problems.some(({ severity }) => severity === "error"))
    return problem(
      "the settings have errors, so nothing runs",
      `edit ${problems[0]?.file ?? files.user}`,
      facts,
      details,
    );
  if (problems.length > 0)
    return warning(
      `the settings have ${showCount(problems.length, "warning")}`,
      "retinue config list --show-origin",
      facts,
      details,
    );
  return ok("settings have no problems", facts);
}

function listProblemFiles(problems: readonly Problem[]): string[] {
  return [...new Set(problems.map(({ file }) => file))];
}

function cutDetails(details: readonly string[]): string[] {
  const more = details.length - MOST_DETAILS;
  return more > 0 ? [...details.slice(0, MOST_DETAILS), `and ${more} more`] : [...details];
}

/** Which accounts there are for mail, calendar, contacts and Slack, and whether their secrets are; nobody is asked. */
export async function checkAccounts(env: NodeJS.ProcessEnv, settings: Settings): Promise<Finding> {
  const places = findPlaces(env);
  try {
    const kept = await loadAccounts(places.configDir);
    const serving = SERVICES.map((service) => {
      const account = chooseAccount(service, settings.assistant ?? {}, kept);
      return `${service}: ${account?.id ?? "local"}`;
    });
    const facts = { accounts: kept.accounts.map(({ id, kind }) => ({ id, kind })), serving };
    for (const { id, kind, tokens } of kept.accounts) {
      if (tokens === "file" && (await createFileStore(places).read(id)) === null)
        return problem(
          `account '${id}' has no secrets any more`,
          `retinue accounts add ${kind} --id ${id}`,
          facts,
        );
    }
    const count = kept.accounts.length;
    const summary =
      count === 0 ? "no accounts; mail, calendar and so on use the local store" : showCount(count, "account");
    return ok(`${summary}${count > 0 ? ` (${serving.join(", ")})` : ""}`, facts);
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    return problem(cutToLine(thrown.message, 300), thrown.hint ?? "retinue accounts list");
  }
}

/** Whether secrets can go into the system's keyring. */
export async function checkKeyring(env: NodeJS.ProcessEnv): Promise<Finding> {
  const places = findPlaces(env);
  if (/^(?:off|0|no|false)$/i.test(env.RETINUE_KEYRING ?? ""))
    return ok("keyring: off (RETINUE_KEYRING); secrets go into files that only you can read");
  const keyring = await openKeyring({ ...places, env });
  const facts = { works: keyring !== null };
  if (keyring) return ok("keyring works", facts);
  const { accounts } = await loadAccounts(places.configDir).catch(() => ({ accounts: [] }));
  const lost = accounts.filter(({ tokens }) => tokens === "keyring");
  if (lost.length > 0)
    return warning(
      `the keyring cannot be reached, and ${lost.map(({ id }) => id).join(", ")} need it`,
      "unlock it, or: retinue accounts add … again, with RETINUE_KEYRING=off",
      facts,
    );
  return ok("no keyring here; secrets go into files that only you can read", facts);
}
