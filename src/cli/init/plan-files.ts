import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLISHED_SETTINGS_SCHEMA } from "../../config/settings-schema.ts";

/** One file that `retinue init` makes, and what it is for. */
export type PlannedFile = { path: string; text: string; about: string; exists: boolean };

/** What a project begins with: secrets in the usual places stay unread. Everything else is as the user has it. */
const SETTINGS = {
  $schema: "./settings.schema.json",
  permissions: { ask: [], deny: ["read(**/.env)", "read(**/.env.local)"] },
  limits: {},
};

/** The files that make a folder a project of Retinue; the example only where there are no agents to learn from. */
export function planFiles(projectDir: string, { example }: { example: boolean }): PlannedFile[] {
  const folder = join(projectDir, ".retinue");
  const file = (path: string, about: string, text: string): PlannedFile => ({
    path: join(folder, path),
    about,
    text,
    exists: isThere(join(folder, path)),
  });
  return [
    file("settings.json", "what agents may not do in this project, and limits", json(SETTINGS)),
    file("settings.schema.json", "so that your editor knows the settings", json(PUBLISHED_SETTINGS_SCHEMA)),
    ...(example ? [file("agents/release-notes.md", "an example agent to change", exampleAgent())] : []),
  ];
}

/** What cannot be looked at is not there: writing it says what is in the way. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function exampleAgent(): string {
  return readFileSync(new URL("./prompts/init-example-agent.md", import.meta.url), "utf8");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
