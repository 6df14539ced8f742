import { isAbsolute, join } from "node:path";
import { RetinueError } from "../../../schema/error.ts";
import type { WorkbenchSettings } from "../../../schema/settings.ts";
import type { HostPlaces } from "../../../tools/tool.ts";
import { createFolderWorkbench } from "./folder-workbench.ts";
import { createHttpWorkbench } from "./http-workbench.ts";
import { type Workbench, WorkbenchError } from "./workbench.ts";

/** The workbench that the settings name; without a word of theirs, a folder among Retinue's data. */
export function createWorkbench(
  settings: WorkbenchSettings,
  { env, homeDir, dataDir }: Pick<HostPlaces, "env" | "homeDir" | "dataDir">,
): Workbench {
  const { folder, url, keyEnv } = settings;
  if (url === undefined)
    return createFolderWorkbench(folderOf(folder, homeDir) ?? join(dataDir, "workbench"));
  if (folder !== undefined)
    throw wrong("workbench has both a folder and a url", "leave one of them out of your settings");
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.search || parsed.hash)
    throw wrong(
      "workbench.url is no http or https address, or holds more than one",
      "write it as https://host/path",
    );
  if (keyEnv === undefined) return createHttpWorkbench({ url });
  // Whoever never uses the workbench needs no key.
  const key = () => {
    const value = env[keyEnv];
    if (value) return value;
    throw new WorkbenchError(
      "refused",
      `the settings name ${keyEnv} for the workbench's key, and it is not set`,
    );
  };
  return createHttpWorkbench({ url, key });
}

function folderOf(folder: string | undefined, homeDir: string): string | undefined {
  if (folder === undefined || isAbsolute(folder)) return folder;
  if (folder.startsWith("~/")) return join(homeDir, folder.slice(2));
  throw wrong(
    `workbench.folder '${folder}' is a relative path`,
    "write a whole path, or one that begins with ~/",
  );
}

function wrong(message: string, hint: string): RetinueError {
  return new RetinueError("config", message, hint);
}
