import { resolve } from "node:path";
import { isRecord } from "../models/wire/json.ts";
import type { AssistantSettings, Settings } from "../schema/settings.ts";
import { leavesProject } from "./narrow-search.ts";

/** A project may name a folder of its own where the user named none; whose accounts are used is never its business. */
export function narrowAssistant(
  assistant: AssistantSettings,
  { folder, folderWithin }: AssistantSettings,
): AssistantSettings {
  if (folder === undefined || folderWithin === undefined || assistant.folder !== undefined) return assistant;
  return { ...assistant, folder, folderWithin };
}

/** The keys of a project's `assistant` section that would choose accounts, trust domains or look outside of the project. */
export function wideningInAssistant(assistant: Readonly<Record<string, unknown>>): string[] {
  const { folder, ...others } = assistant;
  return [...(leavesProject(folder) ? ["folder"] : []), ...Object.keys(others)];
}

/** A project's settings with its folder made absolute, and marked as the project's. */
export function withProjectFolder(
  value: Readonly<Record<string, unknown>>,
  projectDir: string,
): Record<string, unknown> {
  const { assistant } = value;
  if (!isRecord(assistant) || typeof assistant.folder !== "string") return { ...value };
  const folder = resolve(projectDir, assistant.folder);
  return { ...value, assistant: { folder, folderWithin: resolve(projectDir) } };
}

/** A user's settings with the folder made absolute; a relative one stands beside the settings file. */
export function withUserFolder(settings: Partial<Settings>, configDir: string): Partial<Settings> {
  if (settings.assistant === undefined) return settings;
  const { folder, folderWithin: _, ...rest } = settings.assistant;
  return {
    ...settings,
    assistant: { ...rest, ...(folder !== undefined && { folder: resolve(configDir, folder) }) },
  };
}
