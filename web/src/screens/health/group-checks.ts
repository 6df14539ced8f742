import type { HealthView } from "../../../../src/schema/api/inspect.ts";

/** What one check found. */
export type Check = HealthView["checks"][number];

/** Checks that belong together. */
export type CheckGroup = { name: string; checks: readonly Check[] };

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
export function groupChecks(checks: readonly Check[]): CheckGroup[] {
  const nameOf = ({ check }: Check) => GROUPS.find(({ has }) => has(check))?.name ?? "Other";
  const groups = Map.groupBy(checks, nameOf);
  return [...GROUPS.map(({ name }) => name), "Other"].flatMap((name) => {
    const found = groups.get(name);
    return found || name === FILE_GROUP ? [{ name, checks: found ?? [] }] : [];
  });
}
