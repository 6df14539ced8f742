import type { HealthView } from "@retinue/core/schema/api/inspect";

/** What one check found. */
export type HealthCheck = HealthView["checks"][number];

/** Checks that belong together. */
export type CheckGroup = { name: string; checks: readonly HealthCheck[] };

const GROUPS: readonly { name: string; has: (check: string) => boolean }[] = [
  { name: "Models and keys", has: (check) => ["keys", "model", "ollama"].includes(check) },
  { name: "Providers", has: (check) => check === "providers" },
  { name: "MCP servers", has: (check) => check.startsWith("mcp") },
  { name: "Programs and sandbox", has: (check) => ["node", "sandbox", "git", "ripgrep"].includes(check) },
  { name: "Places", has: (check) => ["database", "folders"].includes(check) },
  { name: "Accounts", has: (check) => ["accounts", "keyring"].includes(check) },
  { name: "Agent files and settings", has: (check) => ["agents", "settings"].includes(check) },
];

/** The group that the problems of files stand in. */
export const FILE_GROUP = "Agent files and settings";

/** Checks in their groups; what no group knows comes last, under its own heading. */
export function groupChecks(checks: readonly HealthCheck[]): CheckGroup[] {
  const findGroupName = ({ check }: HealthCheck) => GROUPS.find(({ has }) => has(check))?.name ?? "Other";
  const groups = Map.groupBy(checks, findGroupName);
  return [...GROUPS.map(({ name }) => name), "Other"].flatMap((name) => {
    const found = groups.get(name);
    return found || name === FILE_GROUP ? [{ name, checks: found ?? [] }] : [];
  });
}

/** A remedy as a person reads it: a command to copy, and words before and after it; or words alone. */
type Remedy = { before: string; command: string | null; after: string };

const COMMAND =
  /^(?:[A-Z_]+=\S+ )?(?:retinue|export|sudo|npm|npx|nvm|chmod|chown|mv|cp|ls|df|cat|ollama|docker|git|brew|apt)\b/;

/** Finds the command in a remedy such as `check your network, or: retinue config get …`; a remark after `#` is words. */
export function splitRemedy(remedy: string): Remedy {
  const [said = "", after = ""] = remedy.split(/\s{2,}#\s*/, 2);
  if (COMMAND.test(said)) return { before: "", command: said, after };
  const [before = "", command] = said.split(/: (?=\S)/, 2);
  if (command !== undefined && COMMAND.test(command)) return { before, command, after };
  return { before: remedy, command: null, after: "" };
}
