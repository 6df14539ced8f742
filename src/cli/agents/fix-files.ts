import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { findAgentFiles, listPlaces } from "../../agents/find-agent-files.ts";
import { type FileChange, fixAgentFile } from "../../agents/fix-agent-file.ts";
import { readText } from "../../agents/read-text.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { createFindOwn } from "../../packs/code/sandbox/running-commands.ts";
import type { OpenProject } from "../open-project.ts";

/** What was done to one file; `refused` says why it was left alone. */
export type FixedFile = { file: string; changes: readonly FileChange[]; refused?: string };

/**
 * Repairs agent files of the project and the user, each by one rename, so that nobody ever sees half a file. A file
 * that really lies elsewhere is named and left alone.
 */
export async function fixFiles(
  project: OpenProject,
  only: readonly string[] | undefined,
): Promise<FixedFile[]> {
  const { projectDir, places } = project;
  const searched = { projectDir, homeDir: places.homeDir, configHome: places.configHome };
  const findOwn = createFindOwn(places.dataDir);
  const files = only ?? (await findAgentFiles({ ...searched, findOwn })).files.map((file) => file.path);
  const roots = await Promise.all(
    listPlaces(searched).map(({ dir }) => realpath(dir).catch(() => undefined)),
  );
  const fixed: FixedFile[] = [];
  for (const file of files) {
    const read = readText(file);
    if ("problem" in read) continue;
    const { text, changes } = await fixAgentFile(read.text);
    if (changes.length === 0) continue;
    const real = await realpath(file);
    const inside = roots.some((root) => root !== undefined && !relative(root, real).startsWith(".."));
    if (inside) await replaceFile(real, text);
    fixed.push({
      file,
      changes,
      ...(!inside && { refused: "it lies outside the agent folders of project and user" }),
    });
  }
  return fixed;
}
